// SPDX-License-Identifier: MIT
// Creates, copies and frees meshes; lattice boxes.
#include "yawara/mesh.h"

#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

yw_status yw_tri_mesh_create(const yw_allocator* mem, int32_t num_vertices, int32_t num_triangles,
                             yw_tri_mesh* out) {
  if (out == NULL) return YW_ERR_INVALID;
  *out = (yw_tri_mesh){0};
  if (num_vertices < 0 || num_triangles < 0) return YW_ERR_INVALID;
  yw_tri_mesh mesh = {
      .mem = yw_mem_or_default(mem), .num_vertices = num_vertices, .num_triangles = num_triangles};
  mesh.positions = YW_NEW_ARRAY(&mesh.mem, yw_vec3, num_vertices);
  mesh.triangles = (int32_t*)yw_mem_alloc(&mesh.mem, (size_t)num_triangles, 3 * sizeof(int32_t));
  if (mesh.positions == NULL || mesh.triangles == NULL) {
    yw_tri_mesh_free(&mesh);
    return YW_ERR_MEMORY;
  }
  *out = mesh;
  return YW_OK;
}

yw_status yw_tet_mesh_create(const yw_allocator* mem, int32_t num_vertices, int32_t num_tets,
                             yw_tet_mesh* out) {
  if (out == NULL) return YW_ERR_INVALID;
  *out = (yw_tet_mesh){0};
  if (num_vertices < 0 || num_tets < 0) return YW_ERR_INVALID;
  yw_tet_mesh mesh = {
      .mem = yw_mem_or_default(mem), .num_vertices = num_vertices, .num_tets = num_tets};
  mesh.positions = YW_NEW_ARRAY(&mesh.mem, yw_vec3, num_vertices);
  mesh.tets = (int32_t*)yw_mem_alloc(&mesh.mem, (size_t)num_tets, 4 * sizeof(int32_t));
  if (mesh.positions == NULL || mesh.tets == NULL) {
    yw_tet_mesh_free(&mesh);
    return YW_ERR_MEMORY;
  }
  *out = mesh;
  return YW_OK;
}

void yw_tri_mesh_free(yw_tri_mesh* mesh) {
  if (mesh == NULL) return;
  yw_allocator mem = yw_mem_or_default(&mesh->mem);
  yw_mem_free(&mem, mesh->positions);
  yw_mem_free(&mem, mesh->triangles);
  yw_mem_free(&mem, mesh->colors);
  *mesh = (yw_tri_mesh){0};
}

void yw_tet_mesh_free(yw_tet_mesh* mesh) {
  if (mesh == NULL) return;
  yw_allocator mem = yw_mem_or_default(&mesh->mem);
  yw_mem_free(&mem, mesh->positions);
  yw_mem_free(&mem, mesh->tets);
  yw_mem_free(&mem, mesh->labels);
  *mesh = (yw_tet_mesh){0};
}

// memcpy must not get NULL, which empty arrays may be.
static void copy_items(void* to, const void* from, size_t bytes) {
  if (bytes > 0) memcpy(to, from, bytes);
}

yw_status yw_tri_mesh_copy(const yw_tri_mesh* mesh, const yw_allocator* mem, yw_tri_mesh* out) {
  if (mesh == NULL) return YW_ERR_INVALID;
  yw_status status = yw_tri_mesh_create(mem, mesh->num_vertices, mesh->num_triangles, out);
  if (status < 0) return status;
  size_t n = (size_t)mesh->num_vertices;
  copy_items(out->positions, mesh->positions, n * sizeof *out->positions);
  copy_items(out->triangles, mesh->triangles, 3 * (size_t)mesh->num_triangles * sizeof(int32_t));
  if (mesh->colors == NULL) return YW_OK;
  out->colors = YW_NEW_ARRAY(&out->mem, yw_vec3, n);
  if (out->colors == NULL) {
    yw_tri_mesh_free(out);
    return YW_ERR_MEMORY;
  }
  copy_items(out->colors, mesh->colors, n * sizeof *out->colors);
  return YW_OK;
}

yw_status yw_tet_mesh_copy(const yw_tet_mesh* mesh, const yw_allocator* mem, yw_tet_mesh* out) {
  if (mesh == NULL) return YW_ERR_INVALID;
  yw_status status = yw_tet_mesh_create(mem, mesh->num_vertices, mesh->num_tets, out);
  if (status < 0) return status;
  size_t n = (size_t)mesh->num_tets;
  copy_items(out->positions, mesh->positions, (size_t)mesh->num_vertices * sizeof(yw_vec3));
  copy_items(out->tets, mesh->tets, 4 * n * sizeof *out->tets);
  if (mesh->labels == NULL) return YW_OK;
  out->labels = YW_NEW_ARRAY(&out->mem, int32_t, n);
  if (out->labels == NULL) {
    yw_tet_mesh_free(out);
    return YW_ERR_MEMORY;
  }
  copy_items(out->labels, mesh->labels, n * sizeof *out->labels);
  return YW_OK;
}

// Lattice boxes -----------------------------------------------------------------------------------

// Corner c of a cell is at (c & 1, c >> 1 & 1, c >> 2 & 1). The four corners of one parity form the
// middle tet; each other corner forms a tet with its three neighbours. The next cell is mirrored,
// so that the diagonals of shared faces agree.
static const unsigned char five_tets[2][5][4] = {
    {{0, 3, 6, 5}, {1, 0, 5, 3}, {2, 3, 6, 0}, {4, 0, 6, 5}, {7, 5, 6, 3}},
    {{1, 2, 4, 7}, {0, 1, 2, 4}, {3, 2, 1, 7}, {5, 1, 4, 7}, {6, 4, 2, 7}}};

// Kuhn: one tet for each order in which a path from corner 0 to corner 7 follows the three axes.
static const unsigned char six_tets[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                             {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

static float lattice_coordinate(float lower, float upper, int32_t i, int32_t cells) {
  if (i == cells) return upper;
  return (float)((double)lower + ((double)upper - (double)lower) * (double)i / (double)cells);
}

static void fill_lattice_positions(yw_tet_mesh* mesh, yw_aabb box, const int32_t cells[3]) {
  size_t v = 0;
  for (int32_t k = 0; k <= cells[2]; ++k) {
    float z = lattice_coordinate(box.lower.z, box.upper.z, k, cells[2]);
    for (int32_t j = 0; j <= cells[1]; ++j) {
      float y = lattice_coordinate(box.lower.y, box.upper.y, j, cells[1]);
      for (int32_t i = 0; i <= cells[0]; ++i) {
        float x = lattice_coordinate(box.lower.x, box.upper.x, i, cells[0]);
        mesh->positions[v++] = yw_v3(x, y, z);
      }
    }
  }
}

static void fill_lattice_tets(yw_tet_mesh* mesh, const int32_t cells[3], yw_lattice_cut cut) {
  int32_t step_y = cells[0] + 1, step_z = step_y * (cells[1] + 1);
  int32_t* out = mesh->tets;
  for (int32_t k = 0; k < cells[2]; ++k) {
    for (int32_t j = 0; j < cells[1]; ++j) {
      for (int32_t i = 0; i < cells[0]; ++i) {
        int32_t origin = i + j * step_y + k * step_z;
        const unsigned char(*tets)[4] =
            cut == YW_LATTICE_FIVE ? five_tets[(i + j + k) & 1] : six_tets;
        int count = cut == YW_LATTICE_FIVE ? 5 : 6;
        for (int t = 0; t < count; ++t) {
          for (int n = 0; n < 4; ++n) {
            int c = tets[t][n];
            *out++ = origin + (c & 1) + (c >> 1 & 1) * step_y + (c >> 2 & 1) * step_z;
          }
        }
      }
    }
  }
}

// a * b, or INT64_MAX if that exceeds INT32_MAX, so that products can be chained.
static int64_t product_or_huge(int64_t a, int64_t b) {
  return a > INT32_MAX || a * b > INT32_MAX ? INT64_MAX : a * b;
}

yw_status yw_tet_mesh_lattice(const yw_allocator* mem, yw_aabb box, const int32_t cells[3],
                              yw_lattice_cut cut, yw_tet_mesh* out) {
  if (out == NULL) return YW_ERR_INVALID;
  *out = (yw_tet_mesh){0};
  if (cells == NULL || (cut != YW_LATTICE_FIVE && cut != YW_LATTICE_SIX)) return YW_ERR_INVALID;
  if (cells[0] < 1 || cells[1] < 1 || cells[2] < 1) return YW_ERR_INVALID;
  if (!yw_is_finite3(box.lower) || !yw_is_finite3(box.upper)) return YW_ERR_INVALID;
  if (!(box.lower.x < box.upper.x && box.lower.y < box.upper.y && box.lower.z < box.upper.z)) {
    return YW_ERR_INVALID;
  }
  int64_t num_vertices = 1, num_tets = cut == YW_LATTICE_FIVE ? 5 : 6;
  for (int axis = 0; axis < 3; ++axis) {
    num_vertices = product_or_huge(num_vertices, (int64_t)cells[axis] + 1);
    num_tets = product_or_huge(num_tets, cells[axis]);
  }
  if (num_vertices > INT32_MAX || num_tets > INT32_MAX) return YW_ERR_LIMIT;

  yw_tet_mesh mesh;
  yw_status status = yw_tet_mesh_create(mem, (int32_t)num_vertices, (int32_t)num_tets, &mesh);
  if (status != YW_OK) return status;
  fill_lattice_positions(&mesh, box, cells);
  fill_lattice_tets(&mesh, cells, cut);
  *out = mesh;
  return YW_OK;
}

void yw_lattice_cells(const int32_t cells[3], int32_t* out) {
  int32_t nx = cells[0] + 1, ny = cells[1] + 1;
  for (int32_t z = 0; z < cells[2]; ++z) {
    for (int32_t y = 0; y < cells[1]; ++y) {
      for (int32_t x = 0; x < cells[0]; ++x) {
        for (int k = 0; k < 8; ++k) {
          *out++ = (x + (k & 1)) + nx * ((y + (k >> 1 & 1)) + ny * (z + (k >> 2)));
        }
      }
    }
  }
}
