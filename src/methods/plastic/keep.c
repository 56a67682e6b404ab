// SPDX-License-Identifier: MIT
// Elastic matter keeps its shape: masters that never flow know where their neighbours at rest are.
//
// F_E is integrated from velocities, and positions are too, but not alike: slaves inside an
// obstacle stay while those outside move, and masters that come close to each other move as one.
// So a body that is pressed hard comes back with layers that coincide although F_E is 1. Here both
// are compared with the links of the lattice:
//   F_m  deformation that the positions of linked neighbours show      R_m  its rotation
//   V    left stretch of F_E, which is all of it that is kept
// Where they differ, F_E follows F_m if that has less energy, and otherwise neighbours move to
// where V R_m wants them. Neither adds energy: positions change without velocities.
#include <math.h>
#include <string.h>

#include "math/small/polar.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"
#include "yawara/extend/memory.h"

// Differences of F F^T, and of links in units of d, that are left alone. From there to twice this
// the correction grows from none to all of it. Bodies that bounce stay below.
#define LEAST_STRAIN 0.06f
#define LEAST_GAP 0.03f
// Fraction of its errors by which a link moves its ends in a sweep: six links stay stable. More
// sweeps let long steps recover as well (cubes pressed to 0.3, steps of 2 to 10 ms).
#define LINK_SHARE 0.15f
#define MAX_SWEEPS 4
// Links of a master must span space: determinant of sum X X^T, in units of d^6. A corner has 1.
#define LEAST_SPAN 0.3f
// Smallest stretch that F_E takes over.
#define LEAST_STRETCH 0.05f

// What others see of a master.
typedef struct keep_point {
  yw_vec3 pos;
  yw_mat3 map;  // from rest to where its links should be
  int32_t is_measured;
} keep_point;

// A link as one of its ends sees it.
typedef struct keep_tie {
  int32_t link;
  int32_t master;  // of the model, at the other end
  int32_t other;   // index of its point; those of other ranks come after the masters here
} keep_tie;

struct plastic_keep {
  int32_t* first;  // ties of master m: [first[m], first[m + 1])
  keep_tie* ties;
  keep_point* points;
  yw_vec4* vel;  // of masters, while slaves follow their displacements
};

void yw_plastic_keep_destroy(plastic_body* body) {
  struct plastic_keep* keep = body->keep;
  if (!keep) return;
  void* const arrays[] = {keep->first, keep->ties, keep->points, keep->vel};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(&body->mem, arrays[i]);
  yw_mem_free(&body->mem, keep);
  body->keep = NULL;
}

// The end of a link to another rank that is here.
static int32_t own_end(const plastic_body* body, plastic_link link) {
  int32_t a = link.a - body->first_master;
  return a >= 0 && a < body->master_capacity ? a : link.b - body->first_master;
}

static int32_t num_cross(const plastic_body* body) {
  return body->ranks ? body->ranks->cross_start[body->ranks->comm->count] : 0;
}

// Puts a tie at the next place of master m, or counts it where there is no room yet.
static void add_tie(plastic_body* body, int32_t m, int32_t link, int32_t master) {
  struct plastic_keep* keep = body->keep;
  m -= body->first_master;
  if (m < 0 || m >= body->master_capacity) return;
  int32_t at = keep->first[m + 1]++;
  if (keep->ties) keep->ties[at] = (keep_tie){link, master, master - body->first_master};
}

static void add_ties(plastic_body* body) {
  const plastic_model* model = body->model;
  for (int32_t b = 0, link = 0; b < model->num_masters; ++b) {
    const int32_t* way;
    int32_t links = yw_plastic_links_of(model, b, &way);
    for (int32_t i = 0; i < links; ++i, ++link) {
      add_tie(body, b + way[i], link, b);
      add_tie(body, b, link, b + way[i]);
    }
  }
}

// Ties of the masters here, in the order of links, whoever has the other end.
static bool list_ties(plastic_body* body) {
  struct plastic_keep* keep = body->keep;
  int32_t n = body->master_capacity, *first = keep->first;
  add_ties(body);
  for (int32_t m = 0; m < n; ++m) first[m + 1] += first[m];
  keep->ties = YW_NEW_ARRAY(&body->mem, keep_tie, first[n] + 1);
  if (!keep->ties) return false;
  for (int32_t m = n; m > 0; --m) first[m] = first[m - 1];  // where the ties of m - 1 begin
  add_ties(body);
  return true;
}

// Points of other ranks stand behind the masters here, in the order of links between ranks.
static void tie_ranks(plastic_body* body) {
  const struct plastic_keep* keep = body->keep;
  int32_t n = body->master_capacity;
  for (int32_t i = 0; i < num_cross(body); ++i) {
    plastic_cross cross = ((const plastic_cross*)body->ranks->cross.data)[i];
    int32_t m = own_end(body, cross.link);
    for (int32_t t = keep->first[m]; t < keep->first[m + 1]; ++t) {
      if (keep->ties[t].link == cross.number) keep->ties[t].other = n + i;
    }
  }
}

bool yw_plastic_keep_create(plastic_body* body) {
  const plastic_model* model = body->model;
  const yw_allocator* mem = &body->mem;
  size_t n = (size_t)body->master_capacity;
  bool found = false;
  for (int32_t m = 0; m < model->num_masters && !found; ++m) {
    found = yw_plastic_is_elastic(model, m);
  }
  if (!found || model->paper || model->without_slaves) return true;
  struct plastic_keep* keep = body->keep = YW_NEW(mem, struct plastic_keep);
  if (!keep) return false;
  keep->first = YW_NEW_ARRAY(mem, int32_t, n + 1);
  keep->points = YW_NEW_ARRAY(mem, keep_point, n + (size_t)num_cross(body));
  keep->vel = YW_NEW_ARRAY(mem, yw_vec4, n);
  if (!keep->first || !keep->points || !keep->vel || !list_ties(body)) return false;
  tie_ranks(body);
  return true;
}

// Measuring ---------------------------------------------------------------------------------------

static yw_mat3 outer(yw_vec3 a, yw_vec3 b) {
  return (yw_mat3){yw_scale(a, b.x), yw_scale(a, b.y), yw_scale(a, b.z)};
}

// u diag(s) u^T
static yw_mat3 spread(yw_mat3 u, yw_vec3 s) {
  yw_mat3 scaled = {yw_scale(u.cx, s.x), yw_scale(u.cy, s.y), yw_scale(u.cz, s.z)};
  return yw_mat3_mul(scaled, yw_mat3_transpose(u));
}

static yw_mat3 mix(yw_mat3 a, yw_mat3 b, float share) {
  return yw_mat3_add(yw_mat3_scale(a, 1.0f - share), yw_mat3_scale(b, share));
}

// From none at `least` to 1 at twice this.
static float ramp(float value, float least) {
  return fminf(fmaxf((value - least) / least, 0.0f), 1.0f);
}

static bool is_tied(const plastic_body* body, keep_tie tie) {
  return body->is_linked[tie.link] && tie.master < body->num_all;
}

// From master m here to the other end of a tie, at rest.
static yw_vec3 rest_of(const plastic_body* body, int32_t m, keep_tie tie) {
  const yw_vec3* masters = body->model->masters;
  return yw_sub(masters[tie.master], masters[body->first_master + m]);
}

// F_m of a master; false: its links do not span space.
static bool measure(const plastic_body* body, int32_t m, yw_mat3* f) {
  const struct plastic_keep* keep = body->keep;
  yw_mat3 moved = {0}, rest = {0};
  float inv2 = 1.0f / (body->model->spacing * body->model->spacing);
  for (int32_t i = keep->first[m]; i < keep->first[m + 1]; ++i) {
    keep_tie tie = keep->ties[i];
    if (!is_tied(body, tie)) continue;
    yw_vec3 way = rest_of(body, m, tie);
    yw_vec3 now = yw_sub(keep->points[tie.other].pos, keep->points[m].pos);
    moved = yw_mat3_add(moved, outer(yw_scale(now, inv2), way));
    rest = yw_mat3_add(rest, outer(yw_scale(way, inv2), way));
  }
  float det = yw_mat3_det(rest);
  if (!(det >= LEAST_SPAN)) return false;
  yw_mat3 inverse = {yw_scale(yw_cross(rest.cy, rest.cz), 1.0f / det),
                     yw_scale(yw_cross(rest.cz, rest.cx), 1.0f / det),
                     yw_scale(yw_cross(rest.cx, rest.cy), 1.0f / det)};
  *f = yw_mat3_mul(moved, inverse);
  return true;
}

static float difference(yw_mat3 a, yw_mat3 b) {
  yw_vec3 x = yw_sub(a.cx, b.cx), y = yw_sub(a.cy, b.cy), z = yw_sub(a.cz, b.cz);
  return sqrtf(yw_length2(x) + yw_length2(y) + yw_length2(z));
}

// Of stretches, over mu.
static float energy_of(yw_vec3 s, float half_ratio) {
  yw_vec3 off = yw_sub(s, yw_v3(1, 1, 1));
  float j = s.x * s.y * s.z - 1.0f;
  return yw_length2(off) + half_ratio * j * j;
}

static float at_least(float s) { return copysignf(fmaxf(fabsf(s), LEAST_STRETCH), s); }

// Compares F_E of a master with f = F_m. Returns how far it is corrected, 0 to 1.
static float compare(plastic_body* body, int32_t m, yw_mat3 f, yw_mat3* map) {
  plastic_state_block* state = &body->state[m / YW_LANES];
  const plastic_material_block* material = &body->materials[m / YW_LANES];
  int32_t l = m % YW_LANES;
  yw_mat3 u = {{state->u[0][l], state->u[3][l], state->u[6][l]},
               {state->u[1][l], state->u[4][l], state->u[7][l]},
               {state->u[2][l], state->u[5][l], state->u[8][l]}};
  yw_vec3 s = {state->sigma[0][l], state->sigma[1][l], state->sigma[2][l]};
  yw_mat3 squared = spread(u, yw_v3(s.x * s.x, s.y * s.y, s.z * s.z));
  *map = f;
  float share = ramp(difference(squared, yw_mat3_mul(f, yw_mat3_transpose(f))), LEAST_STRAIN);
  if (!(share > 0.0f)) return 0.0f;
  yw_mat3 left, right;
  yw_vec3 seen;
  yw_svd(&f, &left, &seen, &right);
  yw_mat3 own = spread(u, s);
  yw_mat3 turned = yw_mat3_mul(own, yw_mat3_mul(left, yw_mat3_transpose(right)));
  *map = mix(f, turned, share);
  seen = yw_v3(at_least(seen.x), at_least(seen.y), at_least(seen.z));
  float half_ratio = 0.5f * material->lambda[l] / material->mu[l];
  if (energy_of(seen, half_ratio) > energy_of(s, half_ratio)) return share;
  yw_mat3 taken = mix(own, spread(left, seen), share);
  yw_eigen_symmetric(&taken, &s, &u);
  const yw_vec3 columns[3] = {u.cx, u.cy, u.cz};
  for (int a = 0; a < 3; ++a) {
    state->sigma[a][l] = (&s.x)[a];
    state->u[a][l] = columns[a].x, state->u[3 + a][l] = columns[a].y;
    state->u[6 + a][l] = columns[a].z;
  }
  return share;
}

// Sweeps ------------------------------------------------------------------------------------------

static void take_places(plastic_body* body, yw_particles* particles, int32_t chunk) {
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  for (int32_t m = first; m < end && m < body->num_masters; ++m) {
    body->keep->points[m].pos = yw_xyz(particles->pos[m]);
    body->keep->points[m].is_measured = 0;
  }
  body->sums[chunk].gradient2 = 0.0f;
}

static void measure_chunk(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  float most = 0.0f;
  for (int32_t m = first; m < end && m < body->num_masters; ++m) {
    yw_mat3 f;
    if (body->sleep.island[m] >= 0 || !yw_plastic_is_elastic(body->model, body->first_master + m) ||
        !measure(body, m, &f))
      continue;
    keep_point* point = &body->keep->points[m];
    most = fmaxf(most, compare(body, m, f, &point->map));
    point->is_measured = 1;
  }
  body->sums[chunk].gradient2 = most;
}

static void move_chunk(plastic_body* body, yw_particles* particles, int32_t chunk) {
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  const struct plastic_keep* keep = body->keep;
  float inv = 1.0f / body->model->spacing, most = body->sums[chunk].gradient2;
  for (int32_t m = first; m < end && m < body->num_masters; ++m) {
    const keep_point* point = &keep->points[m];
    if (!point->is_measured) continue;
    yw_vec3 shift = {0, 0, 0};
    for (int32_t i = keep->first[m]; i < keep->first[m + 1]; ++i) {
      keep_tie tie = keep->ties[i];
      const keep_point* other = &keep->points[tie.other];
      if (!is_tied(body, tie) || !other->is_measured) continue;
      yw_vec3 wanted = yw_mul(mix(point->map, other->map, 0.5f), rest_of(body, m, tie));
      yw_vec3 gap = yw_sub(yw_sub(other->pos, point->pos), wanted);
      float share = ramp(yw_length(gap) * inv, LEAST_GAP);
      shift = yw_mad(shift, LINK_SHARE * share, gap);
      most = fmaxf(most, share);
    }
    if (shift.x == 0.0f && shift.y == 0.0f && shift.z == 0.0f) continue;
    particles->pos[m] = yw_v4(yw_add(point->pos, shift));
  }
  body->sums[chunk].gradient2 = most;
}

// Points at the far ends of links to other ranks.
static bool share_points(plastic_body* body) {
  plastic_ranks* ranks = body->ranks;
  int32_t count = num_cross(body), n = body->master_capacity;
  if (!yw_plastic_grow(ranks, &ranks->out, (size_t)count * sizeof(keep_point))) return false;
  keep_point* out = ranks->out.data;
  const plastic_cross* cross = ranks->cross.data;
  for (int32_t i = 0; i < count; ++i) {
    int32_t m = own_end(body, cross[i].link);
    out[i] = m < body->num_masters ? body->keep->points[m] : (keep_point){0};
  }
  for (int32_t r = 0; r <= ranks->comm->count; ++r) {
    ranks->out_start[r] = ranks->in_start[r] = (size_t)ranks->cross_start[r] * sizeof *out;
  }
  yw_ranks_exchange(ranks->comm, out, ranks->out_start, body->keep->points + n, ranks->in_start);
  return true;
}

static bool share_if_any(plastic_body* body) {
  if (!body->ranks || share_points(body)) return true;
  body->ranks->comm->abandon(body->ranks->comm->context, "not enough memory");
  return false;
}

bool yw_plastic_keep_shape(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  if (!body->keep) return false;
  int32_t chunks = yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK);
  bool is_kept = false;
  for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
    yw_plastic_run(body, particles, ctx, chunks, take_places);
    if (!share_if_any(body)) break;
    yw_plastic_run_masters(body, particles, ctx, measure_chunk);
    if (!share_if_any(body)) break;
    yw_plastic_run_masters(body, particles, ctx, move_chunk);
    float most = 0.0f;
    for (int32_t c = 0; c < chunks; ++c) most = fmaxf(most, body->sums[c].gradient2);
    if (!(yw_plastic_most(body, most) > 0.0f)) break;
    is_kept = true;
  }
  return is_kept;
}

void yw_plastic_show_motion(plastic_body* body, yw_particles* particles) {
  for (int32_t m = 0; m < body->num_masters; ++m) {
    yw_vec3 way = yw_sub(yw_xyz(particles->pos[m]), yw_xyz(body->last_pos[m]));
    body->keep->vel[m] = particles->vel[m];
    particles->vel[m] = yw_v4(yw_scale(way, 1.0f / body->dt));
  }
}

void yw_plastic_hide_motion(plastic_body* body, yw_particles* particles) {
  memcpy(particles->vel, body->keep->vel, (size_t)body->num_masters * sizeof *particles->vel);
}
