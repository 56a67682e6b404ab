// SPDX-License-Identifier: MIT
// Fem bodies: memory, parameters, snapshots, and data derived from the front.
#include "methods/fem/body.h"

#include <math.h>
#include <string.h>

#include "methods/fem/fem.h"
#include "methods/fem/offload.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// When a body is placed, it is refined where a node is farther than this from the mean of its
// parents, relative to the length of the edge between them.
#define BENT_SHARE 1e-4f

// Memory ------------------------------------------------------------------------------------------

void yw_fem_body_destroy(void* state, yw_particles* particles) {
  fem_body* b = state;
  if (!b) return;
  yw_allocator mem = b->mem;
  yw_fem_detach(b);
  yw_fem_relax_free(&mem, &b->relax);
  yw_fem_scratch_free(&mem, &b->scratch);
  yw_fem_work_free(&b->work);
  yw_fem_front_free(&b->front);
  yw_particles_free(&mem, &b->surface_copy);
  yw_near_free(&b->near);
  if (b->model->fragile) yw_fem_cracks_free(&b->cracks);
  void* const arrays[] = {
      b->mass,          b->inv_mass, b->force,           b->carried,    b->strains,   b->jumps,
      b->node_strain,   b->to_split, b->to_merge,        b->merge_jump, b->merged_at, b->forced,
      b->held,          b->sprung,   b->is_held,         b->pressing,   b->grip,      b->surface,
      b->surface_old,   b->end_pos,  b->end_vel,         b->cells,      b->cell_tets, b->triangles,
      b->surface_nodes, b->plastic,  b->plastic_tension, b->hanging};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_mem_free(&mem, b);
  yw_particles_free(&mem, particles);
}

static bool allocate_lists(fem_body* b, size_t surface) {
  const fem_hierarchy* h = &b->model->h;
  const yw_allocator* mem = &b->mem;
  size_t nodes = (size_t)h->max_nodes, parents = (size_t)h->num_parents;
  size_t finest = (size_t)(h->num_tets - h->level_start[h->max_level]), triangles = 0;
  if (b->model->fragile) triangles += 2 * (size_t)b->model->fragile->num_faces;
  for (int32_t t = h->level_start[h->max_level]; t < h->num_tets; ++t) {
    for (int k = 0; k < 4; ++k) triangles += b->model->surface_faces[t] >> k & 1;
  }
  b->to_split = YW_NEW_ARRAY(mem, int32_t, parents);
  b->to_merge = YW_NEW_ARRAY(mem, int32_t, parents);
  b->merge_jump = YW_NEW_ARRAY(mem, float, parents);
  b->merged_at = YW_NEW_ARRAY(mem, float, parents);
  b->forced = YW_NEW_ARRAY(mem, bool, parents);
  b->held = YW_NEW_ARRAY(mem, int32_t, nodes);
  b->sprung = YW_NEW_ARRAY(mem, int32_t, nodes);
  b->is_held = YW_NEW_ARRAY(mem, bool, nodes);
  b->surface = YW_NEW_ARRAY(mem, int32_t, surface);
  b->surface_old = YW_NEW_ARRAY(mem, yw_vec4, surface + YW_LANES);
  b->pressing = YW_NEW_ARRAY(mem, float, surface);
  b->grip = YW_NEW_ARRAY(mem, fem_grip, nodes);
  b->cells = YW_NEW_ARRAY(mem, int32_t, 4 * finest);
  b->cell_tets = YW_NEW_ARRAY(mem, int32_t, finest);
  b->triangles = YW_NEW_ARRAY(mem, int32_t, 3 * (triangles + 1));
  b->surface_nodes = YW_NEW_ARRAY(mem, int32_t, surface);
  b->hanging = yw_mem_alloc(mem, nodes, sizeof *b->hanging);
  return b->to_split && b->to_merge && b->merge_jump && b->merged_at && b->forced && b->held &&
         b->sprung && b->is_held && b->surface && b->surface_old && b->cells && b->cell_tets &&
         b->triangles && b->surface_nodes && b->hanging && b->pressing && b->grip;
}

static bool allocate(fem_body* b) {
  const fem_hierarchy* h = &b->model->h;
  const yw_allocator* mem = &b->mem;
  const fem_model* m = b->model;
  size_t nodes = (size_t)h->max_nodes, surface = 0, strains = 0, jumps = 0;
  for (int32_t n = 0; n < h->num_nodes; ++n) surface += m->on_surface[n];
  if (m->fragile) surface = nodes;
  if (m->fragile &&
      !yw_fem_cracks_create(mem, h, m->fragile, m->fine_mass, m->rest, m->on_surface, &b->cracks)) {
    return false;
  }
  if (!yw_fem_front_create(mem, h, &b->front) ||
      !yw_fem_work_create(mem, h, &b->model->tables, &b->work) ||
      !yw_fem_scratch_create(mem, &b->work, &b->scratch) ||
      !yw_fem_relax_create(mem, &b->work, &b->relax) ||
      !yw_near_create(mem, h->max_nodes, &b->near) ||
      !yw_particles_create(mem, (int32_t)surface, &b->surface_copy)) {
    return false;
  }
  for (int k = 0; k < FEM_KINDS; ++k) {
    size_t children = (size_t)b->model->tables.kinds[k].num_children;
    strains += (size_t)b->work.kinds[k].capacity * (children + 1) * 6;
    jumps += (size_t)b->work.kinds[k].capacity * (children + FEM_JUMP_ROWS);
  }
  b->mass = YW_NEW_ARRAY(mem, double, nodes);
  b->inv_mass = YW_NEW_ARRAY(mem, float, nodes);
  b->force = YW_NEW_ARRAY(mem, yw_vec4, nodes);
  b->carried = YW_NEW_ARRAY(mem, double, 4 * nodes);
  b->strains = YW_NEW_ARRAY(mem, float, strains);
  b->jumps = YW_NEW_ARRAY(mem, float, jumps);
  b->node_strain = yw_mem_alloc(mem, nodes, sizeof *b->node_strain);
  b->end_pos = YW_NEW_ARRAY(mem, yw_vec4, nodes);
  b->end_vel = YW_NEW_ARRAY(mem, yw_vec4, nodes);
  b->plastic = yw_mem_alloc(mem, (size_t)h->num_tets, sizeof *b->plastic);
  b->plastic_tension = yw_mem_alloc(mem, (size_t)h->num_tets, sizeof *b->plastic_tension);
  return b->mass && b->inv_mass && b->force && b->carried && b->strains && b->jumps &&
         b->node_strain && b->plastic && b->plastic_tension && b->end_pos && b->end_vel &&
         allocate_lists(b, surface);
}

yw_status yw_fem_body_create(const void* model_pointer, const yw_allocator* mem, void** state,
                             yw_particles* particles, yw_error* error) {
  const fem_model* model = model_pointer;
  *state = NULL;
  *particles = (yw_particles){0};
  fem_body* b = YW_NEW(mem, fem_body);
  if (!b) return yw_fail_memory(error, "a fem body");
  b->mem = yw_mem_or_default(mem);
  b->model = model;
  b->params = model->params;
  if (!allocate(b) || !yw_particles_create(mem, model->h.max_nodes, particles)) {
    yw_fem_body_destroy(b, particles);
    return yw_fail_memory(error, "a fem body");
  }
  b->work.corners = (const int32_t(*)[4])b->cracks.corners;
  particles->count = model->h.num_nodes;
  for (int32_t n = 0; n < particles->count; ++n) {
    particles->pos[n] = yw_v4(model->rest[n]);
    particles->mass[n] = (float)model->fine_mass[n];
    particles->inv_mass[n] = 1.0f / particles->mass[n];
  }
  yw_fem_invalidate(b, particles);
  *state = b;
  return YW_OK;
}

// Data derived from the front ---------------------------------------------------------------------

const double* yw_fem_fine_mass(const fem_body* b) {
  return b->model->fragile ? b->cracks.fine_mass : b->model->fine_mass;
}

const bool* yw_fem_on_surface(const fem_body* b) {
  return b->model->fragile ? b->cracks.on_surface : b->model->on_surface;
}

void yw_fem_front_changed(fem_body* b) {
  const fem_front* f = &b->front;
  const bool* on_surface = yw_fem_on_surface(b);
  // The paper's own rules are used unmodified, and cracks could not part softened families.
  const yw_fem_params* params = &b->params;
  bool linear = params->soften == YW_FEM_SOFTEN_MATERIAL && params->refine == YW_FEM_REFINE_FINEST;
  bool soften = params->soften != YW_FEM_SOFTEN_NONE && !linear &&
                params->refine != YW_FEM_REFINE_RANGE && params->hanging != YW_FEM_HANGING_SNAP &&
                !b->model->fragile;
  yw_fem_work_build(&b->work, f, soften);
  if (b->has_flown) yw_fem_flow_offsets(b);
  // Nodes that follow others forget what pressed on them.
  for (int32_t n = 0; n < b->model->h.num_nodes; ++n) {
    if (f->state[n] != FEM_FREE) b->grip[n] = (fem_grip){0};
  }
  b->num_surface = 0;
  for (int32_t i = 0; i < f->num_active; ++i) {
    int32_t n = f->active[i];
    bool moves = f->state[n] == FEM_FREE && !b->is_held[n];
    b->inv_mass[n] = moves ? (float)(1.0 / b->mass[n]) : 0.0f;
    if (f->state[n] == FEM_FREE && on_surface[n]) b->surface[b->num_surface++] = n;
  }
  ++b->front_version;
}

void yw_fem_show_masses(fem_body* b, yw_particles* particles) {
  b->mass_version = b->front_version;
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    float inverse = b->inv_mass[n];
    if (b->front.state[n] == FEM_HANGING) {
      const int32_t* p = b->model->h.node[n].parents;
      inverse = 0.25f * (particles->inv_mass[p[0]] + particles->inv_mass[p[1]]);
    }
    particles->inv_mass[n] = inverse;
  }
}

// The sides of a crack begin at the same place, which contact would push apart: triangles there do
// not take part until they have parted.
static bool is_at_lip(const fem_body* b, const int32_t* nodes, int count) {
  for (int k = 0; k < count && b->model->fragile; ++k) {
    if (b->cracks.is_lip[nodes[k]]) return true;
  }
  return false;
}

static void list_surface(fem_body* b, int32_t tet) {
  const int32_t* v = yw_fem_nodes_of(&b->work, tet);
  const fem_hierarchy* h = &b->model->h;
  bool positive = yw_fem_is_positive(h, tet);
  int faces = b->model->surface_faces[tet], first = h->level_start[h->max_level];
  if (b->model->fragile && tet >= first) faces |= b->cracks.parted[tet - first];
  for (int k = 0; k < 4; ++k) {
    if (!(faces >> k & 1)) continue;
    int32_t* to = b->triangles + 3 * (size_t)b->num_triangles;
    const unsigned char* face = yw_tet_faces[k];
    to[0] = v[face[0]], to[1] = v[face[positive ? 1 : 2]], to[2] = v[face[positive ? 2 : 1]];
    if (!is_at_lip(b, to, 3)) ++b->num_triangles;
  }
}

static void list_cell(fem_body* b, int32_t tet, int32_t* count) {
  const int32_t* v = yw_fem_nodes_of(&b->work, tet);
  bool positive = yw_fem_is_positive(&b->model->h, tet);
  int32_t* to = b->cells + 4 * (size_t)*count;
  to[0] = v[0], to[1] = v[1], to[2] = v[positive ? 2 : 3], to[3] = v[positive ? 3 : 2];
  b->cell_tets[(*count)++] = tet;
  list_surface(b, tet);
}

void yw_fem_show_front(fem_body* b) {
  if (b->shown_version == b->front_version) return;
  const fem_hierarchy* h = &b->model->h;
  int32_t count = 0;
  b->num_triangles = b->num_surface_nodes = 0;
  for (int32_t r = 0; r < h->num_roots; ++r) {
    if (!yw_fem_is_split(&b->front, r)) list_cell(b, r, &count);
  }
  for (int32_t i = 0; i < b->front.num_families; ++i) {
    int32_t parent = b->front.families[i], first = h->first_child[parent];
    for (int32_t c = 0; c < yw_fem_children_of(h, parent); ++c) {
      if (!yw_fem_is_split(&b->front, first + c)) list_cell(b, first + c, &count);
    }
  }
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    if (yw_fem_on_surface(b)[n] && !is_at_lip(b, &n, 1))
      b->surface_nodes[b->num_surface_nodes++] = n;
  }
  b->num_hanging = b->front.num_hanging;
  for (int32_t i = 0; i < b->num_hanging; ++i) {
    int32_t n = b->front.hanging[i];
    b->hanging[i][0] = n;
    b->hanging[i][1] = h->node[n].parents[0];
    b->hanging[i][2] = h->node[n].parents[1];
  }
  b->shown_version = b->front_version;
}

// True if a node between the corners of a tet is away from where they would put it.
static bool is_bent(const fem_body* b, const yw_particles* particles, int32_t tet) {
  const int32_t *family = b->model->h.family[tet], *v = family;
  for (int e = 0; e < 6; ++e) {
    yw_vec3 u = yw_xyz(particles->pos[v[yw_fem_edges[e][0]]]);
    yw_vec3 w = yw_xyz(particles->pos[v[yw_fem_edges[e][1]]]);
    yw_vec3 off = yw_sub(yw_xyz(particles->pos[family[4 + e]]), yw_lerp(u, w, 0.5f));
    float size = yw_distance(u, w) + 1e-3f * (yw_length(u) + yw_length(w));
    if (yw_length(off) > BENT_SHARE * size) return true;
  }
  if (family[10] < 0) return false;
  yw_vec3 sum = {0, 0, 0};
  for (int s = 0; s < 4; ++s) sum = yw_mad(sum, 0.25f, yw_xyz(particles->pos[v[s]]));
  float size = yw_distance(yw_xyz(particles->pos[v[0]]), yw_xyz(particles->pos[v[1]]));
  return yw_distance(sum, yw_xyz(particles->pos[family[10]])) >
         BENT_SHARE * (size + 1e-3f * yw_length(sum));
}

// The coarsest front that represents the pose: a tet is split if anything inside it is bent.
void yw_fem_invalidate(void* state, const yw_particles* particles) {
  fem_body* b = state;
  const fem_hierarchy* h = &b->model->h;
  yw_near_forget(&b->near);
  memset(b->grip, 0, (size_t)h->max_nodes * sizeof *b->grip);
  b->gripped = false;
  yw_fem_front_reset(&b->front);
  // From fine to coarse: the parent of a bent tet counts as bent.
  bool* bent = (bool*)b->carried;
  for (int32_t t = h->num_parents - 1; t >= 0; --t) {
    bool inside = is_bent(b, particles, t);
    int32_t first = h->first_child[t];
    for (int32_t c = 0; c < yw_fem_children_of(h, t) && first + c < h->num_parents; ++c) {
      inside = inside || bent[first + c];
    }
    bent[t] = inside;
  }
  for (int32_t t = 0; t < h->num_parents; ++t) {
    if (bent[t] || (b->model->fragile && b->cracks.fine[t])) yw_fem_front_split(&b->front, t);
  }
  yw_fem_front_update(&b->front);
  yw_fem_carry_masses(&b->front, yw_fem_fine_mass(b), b->mass);
  yw_fem_front_changed(b);
  memset(b->merged_at, 0, sizeof *b->merged_at * (size_t)h->num_parents);
  b->since_check = INFINITY;
  b->patience = 1.0f;
  b->asleep = false;
  b->still = 0.0f;
  memcpy(b->end_pos, particles->pos, sizeof(yw_vec4) * (size_t)particles->count);
  memcpy(b->end_vel, particles->vel, sizeof(yw_vec4) * (size_t)particles->count);
  b->num_seen = particles->count;
  yw_fem_show_front(b);
}

// Parameters --------------------------------------------------------------------------------------

// Softened matrices are made with the model.
static bool can_soften(const fem_body* b, yw_fem_soften soften) {
  return soften == YW_FEM_SOFTEN_NONE || soften == b->model->tables.softening.kind;
}

yw_status yw_fem_set_params(void* state, const yw_fem_params* params) {
  fem_body* b = state;
  yw_status status = yw_fem_params_check(params, b->model->h.max_level, NULL);
  if (status < 0) return status;
  if (!can_soften(b, params->soften)) return YW_ERR_INVALID;
  // Strains are checked at their time if only the stiffness follows a track.
  yw_fem_params softer = b->params;
  softer.stiffness_scale = params->stiffness_scale;
  if (memcmp(&softer, params, sizeof softer) != 0) {
    b->since_check = INFINITY;
    b->patience = 1.0f;
  }
  b->params = *params;
  b->asleep = false;
  b->still = 0.0f;
  return YW_OK;
}

yw_fem_params yw_fem_params_of(const void* state) { return ((const fem_body*)state)->params; }

void yw_fem_statistics_of(const void* state, yw_fem_statistics* out) {
  const fem_body* b = state;
  *out = (yw_fem_statistics){.num_tets = b->front.num_tets,
                             .num_nodes = b->front.num_active,
                             .num_hanging = b->front.num_hanging,
                             .finest_level = b->front.finest,
                             .time_step = b->last_step,
                             .inner_steps = b->inner_steps,
                             .splits = b->splits,
                             .merges = b->merges,
                             .asleep = b->asleep,
                             .num_pieces = 1};
  if (!b->model->fragile) return;
  out->num_pieces = b->cracks.num_pieces;
  out->crack_area = b->cracks.area;
  out->fracture_energy = yw_fem_fracture_energy(state);
}

// Snapshots ---------------------------------------------------------------------------------------

void yw_fem_save(const void* state, yw_writer* writer) {
  const fem_body* b = state;
  const yw_fem_params* p = &b->params;
  const float numbers[12] = {p->tau,          p->check_interval, p->time_step,
                             p->safety,       p->mass_damping,   p->stiffness_damping,
                             p->strain_range, p->sleep_speed,    p->yield,
                             p->creep,        p->max_plastic,    p->stiffness_scale};
  const float clocks[5] = {b->since_check, b->stretch, b->still, b->last_step, b->patience};
  yw_write_f32(writer, numbers, 12);
  yw_write_u32(writer, (uint32_t)p->min_level);
  yw_write_u32(writer, (uint32_t)p->refine);
  yw_write_u32(writer, (uint32_t)p->hanging);
  yw_write_u32(writer, (uint32_t)p->soften);
  yw_write_f32(writer, clocks, 5);
  yw_write_u32(writer, b->asleep);
  yw_write_u64(writer, b->sleep_surroundings);
  yw_write_u64(writer, (uint64_t)b->inner_steps);
  yw_write_u64(writer, (uint64_t)b->splits);
  yw_write_u64(writer, (uint64_t)b->merges);
  if (b->model->fragile) yw_fem_cracks_save(&b->cracks, &b->model->h, writer);
  yw_write_bytes(writer, b->front.split, (size_t)b->model->h.num_parents);
  yw_write_f32(writer, b->merged_at, (size_t)b->model->h.num_parents);
  yw_write_u32(writer, b->has_flown);
  if (b->has_flown) yw_write_f32(writer, b->plastic[0], 6 * (size_t)b->model->h.num_tets);
  yw_write_u32(writer, (uint32_t)b->num_held);
  yw_write_u32(writer, (uint32_t)b->num_sprung);
  yw_write_bytes(writer, b->held, sizeof *b->held * (size_t)b->num_held);
  yw_write_bytes(writer, b->sprung, sizeof *b->sprung * (size_t)b->num_sprung);
  yw_near_save(&b->near, writer);
  yw_write_u32(writer, b->gripped);
  size_t nodes = (size_t)b->model->h.num_nodes + (size_t)b->front.num_copies;
  if (b->gripped) yw_write_f32(writer, &b->grip[0].pressure, 2 * nodes);
}

static bool load_grip(fem_body* b, yw_reader* reader) {
  size_t count = (size_t)b->model->h.num_nodes + (size_t)b->front.num_copies;
  b->gripped = yw_read_u32(reader) != 0;
  memset(b->grip, 0, count * sizeof *b->grip);
  if (b->gripped) yw_read_f32(reader, &b->grip[0].pressure, 2 * count);
  for (size_t n = 0; n < count; ++n) {
    const fem_grip* grip = &b->grip[n];
    if (!(grip->pressure >= 0.0f && grip->pressure < INFINITY && grip->age >= 0.0f &&
          grip->age < INFINITY)) {
      return false;
    }
  }
  return !reader->failed;
}

static bool load_flow(fem_body* b, yw_reader* reader) {
  size_t count = 6 * (size_t)b->model->h.num_tets;
  b->has_flown = yw_read_u32(reader) != 0;
  memset(b->plastic, 0, count * sizeof(float));
  if (b->has_flown) yw_read_f32(reader, b->plastic[0], count);
  for (int32_t t = 0; t < b->model->h.num_tets; ++t) {
    for (int i = 0; i < 6; ++i) {
      if (!(fabsf(b->plastic[t][i]) < 1e3f)) return false;
    }
  }
  yw_fem_flow_restore(b);
  return !reader->failed;
}

static bool load_pins(fem_body* b, yw_reader* reader) {
  const fem_hierarchy* h = &b->model->h;
  uint32_t held = yw_read_u32(reader), sprung = yw_read_u32(reader);
  uint32_t most = (uint32_t)(h->num_nodes + b->front.num_copies);
  if (held > most || sprung > most) return false;
  yw_read_bytes(reader, b->held, sizeof *b->held * held);
  yw_read_bytes(reader, b->sprung, sizeof *b->sprung * sprung);
  b->num_held = b->num_sprung = 0;
  for (uint32_t i = 0; i < held + sprung; ++i) {
    int32_t n = i < held ? b->held[i] : b->sprung[i - held];
    if (n < 0 || n >= (int32_t)most) return false;
  }
  b->num_held = (int32_t)held;
  b->num_sprung = (int32_t)sprung;
  return !reader->failed;
}

// The particles of the snapshot must be those that its cracks make.
static bool load_cracks(fem_body* b, yw_reader* reader) {
  const fem_model* m = b->model;
  int32_t copies = 0;
  if (m->fragile) copies = yw_fem_cracks_load(&b->cracks, &m->h, &m->materials, reader);
  b->front.num_copies = copies > 0 ? copies : 0;
  yw_fem_work_forget(&b->work);
  return copies >= 0 && m->h.num_nodes + copies == b->num_seen;
}

// Split flags must form a front: the parent of a split tet is split too.
static bool load_front(fem_body* b, yw_reader* reader) {
  const fem_hierarchy* h = &b->model->h;
  uint8_t* flags = (uint8_t*)b->carried;
  yw_read_bytes(reader, flags, (size_t)h->num_parents);
  for (int32_t t = 0; t < h->num_parents; ++t) {
    if (flags[t] > 1 || (flags[t] && h->parent[t] >= 0 && !flags[h->parent[t]])) return false;
  }
  yw_fem_front_reset(&b->front);
  for (int32_t t = 0; t < h->num_parents; ++t) {
    if (flags[t]) yw_fem_front_split(&b->front, t);
  }
  yw_fem_front_update(&b->front);
  yw_read_f32(reader, b->merged_at, (size_t)h->num_parents);
  for (int32_t t = 0; t < h->num_parents; ++t) {
    if (!(b->merged_at[t] >= 0.0f)) return false;
  }
  return !reader->failed;
}

void yw_fem_load(void* state, yw_reader* reader) {
  fem_body* b = state;
  float numbers[12], clocks[5];
  yw_read_f32(reader, numbers, 12);
  yw_fem_params p = {.tau = numbers[0],
                     .check_interval = numbers[1],
                     .time_step = numbers[2],
                     .safety = numbers[3],
                     .mass_damping = numbers[4],
                     .stiffness_damping = numbers[5],
                     .strain_range = numbers[6],
                     .sleep_speed = numbers[7],
                     .yield = numbers[8],
                     .creep = numbers[9],
                     .max_plastic = numbers[10],
                     .stiffness_scale = numbers[11]};
  p.min_level = (int32_t)yw_read_u32(reader);
  p.refine = (yw_fem_refine)yw_read_u32(reader);
  p.hanging = (yw_fem_hanging)yw_read_u32(reader);
  p.soften = (yw_fem_soften)yw_read_u32(reader);
  yw_read_f32(reader, clocks, 5);
  bool asleep = yw_read_u32(reader) != 0;
  uint64_t surroundings = yw_read_u64(reader);
  int64_t steps = (int64_t)yw_read_u64(reader), splits = (int64_t)yw_read_u64(reader);
  int64_t merges = (int64_t)yw_read_u64(reader);
  bool sane = clocks[0] >= 0.0f && clocks[1] >= 0.0f && clocks[2] >= 0.0f && clocks[3] >= 0.0f &&
              clocks[4] >= 1.0f && clocks[4] <= 1e3f;
  if (reader->failed || !sane || yw_fem_params_check(&p, b->model->h.max_level, NULL) < 0 ||
      !can_soften(b, p.soften) || !load_cracks(b, reader) || !load_front(b, reader) ||
      !load_flow(b, reader) || !load_pins(b, reader) || !yw_near_load(&b->near, reader) ||
      !load_grip(b, reader)) {
    reader->failed = true;
    return;
  }
  b->params = p;
  b->missed = 0.0f;
  b->since_check = clocks[0], b->stretch = clocks[1], b->still = clocks[2];
  b->last_step = clocks[3];
  b->patience = clocks[4];
  b->asleep = asleep;
  b->sleep_surroundings = surroundings;
  b->inner_steps = steps, b->splits = splits, b->merges = merges;
  yw_fem_note_pins(b);
  yw_fem_carry_masses(&b->front, yw_fem_fine_mass(b), b->mass);
  if (b->model->fragile) {
    yw_fem_cracks_refresh(&b->cracks, b->mass);
    yw_fem_cracks_count(&b->cracks, &b->model->h, b->front.num_copies);
    b->is_apart = b->cracks.num_pieces > 1;
  }
  yw_fem_front_changed(b);
  yw_fem_show_front(b);
}
