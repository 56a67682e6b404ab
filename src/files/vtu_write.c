// SPDX-License-Identifier: MIT
#include "yawara/extend/vtu_write.h"

#include <inttypes.h>
#include <string.h>

#include "files/mesh_formats.h"
#include "files/mesh_vtk_cells.h"
#include "yawara/extend/file.h"

// Writes text in an attribute, escaped.
static void put_escaped(yw_file_writer* file, const char* text) {
  for (; *text; ++text) {
    const char* entity = *text == '&'   ? "&amp;"
                         : *text == '<' ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '"' ? "&quot;"
                                        : NULL;
    if (entity)
      yw_file_printf(file, "%s", entity);
    else
      yw_file_write(file, text, 1);
  }
}

// Writes the tag of an array and advances the offset past its length and bytes. The unit is the one
// that VTK and ParaView know of an array.
static void put_tag_with_unit(yw_file_writer* file, const char* type, const char* name,
                              int32_t components, const char* unit, uint64_t bytes,
                              uint64_t* offset) {
  yw_file_printf(file, "<DataArray type=\"%s\" Name=\"", type);
  put_escaped(file, name);
  yw_file_printf(file, "\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%" PRIu64 "\"",
                 components, *offset);
  *offset += 8 + bytes;
  if (!unit || !*unit) {
    yw_file_printf(file, "/>\n");
    return;
  }
  yw_file_printf(file, ">\n<InformationKey name=\"UNITS_LABEL\" location=\"vtkDataArray\">");
  put_escaped(file, unit);
  yw_file_printf(file, "</InformationKey>\n</DataArray>\n");
}

static void put_tag(yw_file_writer* file, const char* type, const char* name, int32_t components,
                    uint64_t bytes, uint64_t* offset) {
  put_tag_with_unit(file, type, name, components, NULL, bytes, offset);
}

// A comment must not contain two dashes.
static void put_meaning(yw_file_writer* file, const yw_vtu_field* field) {
  if (!field->meaning || !*field->meaning || strstr(field->meaning, "--")) return;
  yw_file_printf(file, "<!-- ");
  put_escaped(file, field->meaning);
  yw_file_printf(file, " -->\n");
}

static void put_length(yw_file_writer* file, uint64_t bytes) {
  unsigned char header[8];
  yw_put_u32_le(header, (uint32_t)bytes);
  yw_put_u32_le(header + 4, (uint32_t)(bytes >> 32));
  yw_file_write(file, header, sizeof header);
}

static void put_float(yw_file_writer* file, float value) {
  unsigned char bytes[4];
  yw_put_float_le(bytes, value);
  yw_file_write(file, bytes, sizeof bytes);
}

static void put_int(yw_file_writer* file, int32_t value) {
  unsigned char bytes[4];
  yw_put_u32_le(bytes, (uint32_t)value);
  yw_file_write(file, bytes, sizeof bytes);
}

static uint64_t field_count(const yw_vtu_grid* grid, const yw_vtu_field* field) {
  int32_t places = field->per_cell ? grid->num_cells : grid->num_points;
  return (uint64_t)places * (uint64_t)field->components;
}

static void put_field_tags(yw_file_writer* file, const yw_vtu_grid* grid, bool per_cell,
                           uint64_t* offset) {
  for (int32_t i = 0; i < grid->num_fields; ++i) {
    const yw_vtu_field* field = &grid->fields[i];
    if (field->per_cell != per_cell) continue;
    put_meaning(file, field);
    put_tag_with_unit(file, "Float32", field->name, field->components, field->unit,
                      4 * field_count(grid, field), offset);
  }
}

static void put_fields(yw_file_writer* file, const yw_vtu_grid* grid, bool per_cell) {
  for (int32_t f = 0; f < grid->num_fields; ++f) {
    const yw_vtu_field* field = &grid->fields[f];
    if (field->per_cell != per_cell) continue;
    uint64_t count = field_count(grid, field);
    put_length(file, 4 * count);
    for (uint64_t i = 0; i < count; ++i) put_float(file, field->values[i]);
  }
}

static void put_tags(yw_file_writer* file, const yw_vtu_grid* grid) {
  uint64_t points = (uint64_t)grid->num_points, cells = (uint64_t)grid->num_cells, offset = 0;
  uint64_t corners = cells * (uint64_t)grid->corners_per_cell;
  yw_file_printf(file,
                 "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                 "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
                 "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n<Points>\n",
                 grid->num_points, grid->num_cells);
  put_tag_with_unit(file, "Float32", "Points", 3, "m", 12 * points, &offset);
  yw_file_printf(file, "</Points>\n<Cells>\n");
  put_tag(file, "Int32", "connectivity", 1, 4 * corners, &offset);
  put_tag(file, "Int32", "offsets", 1, 4 * cells, &offset);
  put_tag(file, "UInt8", "types", 1, cells, &offset);
  yw_file_printf(file, "</Cells>\n");
  yw_file_printf(file, "<PointData>\n");
  put_field_tags(file, grid, false, &offset);
  yw_file_printf(file, "</PointData>\n<CellData>\n");
  put_field_tags(file, grid, true, &offset);
  if (grid->labels) put_tag(file, "Int32", "label", 1, 4 * cells, &offset);
  yw_file_printf(file, "</CellData>\n");
  yw_file_printf(file, "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
}

// In the order of the tags.
static void put_values(yw_file_writer* file, const yw_vtu_grid* grid) {
  uint64_t points = (uint64_t)grid->num_points, cells = (uint64_t)grid->num_cells;
  uint64_t corners = cells * (uint64_t)grid->corners_per_cell;
  put_length(file, 12 * points);
  for (int32_t i = 0; i < grid->num_points; ++i) {
    put_float(file, grid->positions[i].x);
    put_float(file, grid->positions[i].y);
    put_float(file, grid->positions[i].z);
  }
  put_length(file, 4 * corners);
  for (uint64_t i = 0; i < corners; ++i) {
    put_int(file, grid->cells ? grid->cells[i] : (int32_t)i);
  }
  put_length(file, 4 * cells);
  for (int32_t i = 0; i < grid->num_cells; ++i) put_int(file, (i + 1) * grid->corners_per_cell);
  put_length(file, cells);
  unsigned char type = grid->corners_per_cell == 4   ? YW_VTK_TET
                       : grid->corners_per_cell == 3 ? YW_VTK_TRIANGLE
                       : grid->corners_per_cell == 2 ? YW_VTK_LINE
                                                     : YW_VTK_VERTEX;
  for (int32_t i = 0; i < grid->num_cells; ++i) yw_file_write(file, &type, 1);
  put_fields(file, grid, false);
  put_fields(file, grid, true);
  if (grid->labels) {
    put_length(file, 4 * cells);
    for (int32_t i = 0; i < grid->num_cells; ++i) put_int(file, grid->labels[i]);
  }
  yw_file_printf(file, "\n</AppendedData>\n</VTKFile>\n");
}

yw_status yw_vtu_write(const char* path, const yw_vtu_grid* grid, const yw_allocator* mem,
                       yw_error* error) {
  int32_t corners = grid->corners_per_cell;
  bool known = corners >= 1 && corners <= 4;
  bool has_cells =
      grid->cells || (corners == 1 && grid->num_cells == grid->num_points) || grid->num_cells == 0;
  if (!known || !has_cells || grid->num_points < 0 || grid->num_cells < 0 ||
      grid->num_cells > INT32_MAX / 4)
    return yw_fail(
        error, YW_ERR_INVALID, "%s: %d points and %d cells of %d corners cannot be written",
        yw_file_short_name(path), grid->num_points, grid->num_cells, grid->corners_per_cell);
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, mem, error);
  if (status != YW_OK) return status;
  put_tags(&file, grid);
  put_values(&file, grid);
  return yw_file_writer_commit(&file, error);
}

yw_status yw_vtu_write_triangles(const char* path, const yw_tri_mesh* mesh, yw_error* error) {
  yw_vtu_field color = {.name = "color", .components = 3, .values = (const float*)mesh->colors};
  yw_vtu_grid grid = {.num_points = mesh->num_vertices,
                      .positions = mesh->positions,
                      .num_cells = mesh->num_triangles,
                      .corners_per_cell = 3,
                      .cells = mesh->triangles,
                      .fields = &color,
                      .num_fields = mesh->colors ? 1 : 0};
  return yw_vtu_write(path, &grid, &mesh->mem, error);
}

yw_status yw_vtu_write_tets(const char* path, const yw_tet_mesh* mesh, yw_error* error) {
  yw_vtu_grid grid = {.num_points = mesh->num_vertices,
                      .positions = mesh->positions,
                      .num_cells = mesh->num_tets,
                      .corners_per_cell = 4,
                      .cells = mesh->tets,
                      .labels = mesh->labels};
  return yw_vtu_write(path, &grid, &mesh->mem, error);
}

yw_status yw_pvd_write(const char* path, const yw_pvd_entry* entries, int32_t count,
                       const yw_allocator* mem, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, mem, error);
  if (status != YW_OK) return status;
  yw_file_printf(&file,
                 "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                 "byte_order=\"LittleEndian\">\n<Collection>\n");
  for (int32_t i = 0; i < count; ++i) {
    yw_file_printf(&file, "<DataSet timestep=\"");
    yw_file_write_double(&file, entries[i].time);
    yw_file_printf(&file, "\" group=\"\" part=\"%d\" file=\"", entries[i].part);
    put_escaped(&file, entries[i].file);
    yw_file_printf(&file, "\"/>\n");
  }
  yw_file_printf(&file, "</Collection>\n</VTKFile>\n");
  return yw_file_writer_commit(&file, error);
}
