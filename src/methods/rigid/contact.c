// SPDX-License-Identifier: MIT
// Contacts with obstacles. The balls of the body are followed through the substep. Those that meet
// the same flat part of an obstacle are a patch, which a few of them hold as well as all: the one
// that would end up deepest, and the outermost in eight directions of those nearest at the start,
// which carry a body that rests or rolls. What these miss is added when the solve shows it.
#include "math/small/mat3d.h"
#include "methods/rigid/body.h"

// Normals within 18 degrees belong to one patch.
#define SAME_PATCH 0.95
// Balls within this share of the body's size may come to touch while it turns.
#define MARGIN 2e-3f
// Gaps below this share of the size are rounding: left alone.
#define SLOP 2e-6
// Penetration is pushed out by this share per substep, at most this fast (m/s); the velocity that
// this takes is gone at the end of the substep.
#define PUSH_OUT 0.2
#define PUSH_OUT_SPEED 1.0
// An approach slower than this many substeps of gravity is resting, not an impact.
#define REST_STEPS 2.0
// Obstacles that one ball meets at once.
#define MAX_TOUCHES 8
// Balls within this share of the size of the nearest are as near.
#define AS_NEAR 1e-4

// Cosine of the angle by which a flat face may be off what it lies on.
#define LYING 0.9999

// Balls that are not listed may end up this share of the size deep.
#define MISSED 2e-5

_Static_assert(RIGID_PATCHES <= YW_RIGID_FACES, "one face each");

typedef struct patch {
  int32_t obstacle;
  float nearest;  // least gap at the start
  double normal[3], directions[8][3];
  double scores[RIGID_PATCH_CONTACTS];
  int32_t best[RIGID_PATCH_CONTACTS];  // meetings; -1: none
} patch;

typedef struct search {
  rigid_body* body;
  const yw_step_ctx* ctx;
  yw_rigid_motion end;  // after a free move
  double from[9], to[9];
  int32_t num_patches;
  patch patches[RIGID_PATCHES];
} search;

static yw_vec3 place(const double r[9], const double center[3], const float local[3]) {
  double out[3];
  for (int k = 0; k < 3; ++k) {
    out[k] = center[k] + r[3 * k] * (double)local[0] + r[3 * k + 1] * (double)local[1] +
             r[3 * k + 2] * (double)local[2];
  }
  return yw_v3((float)out[0], (float)out[1], (float)out[2]);
}

// Patches -----------------------------------------------------------------------------------------

static void start_patch(patch* p, const yw_touch* touch) {
  static const double half = 0.70710678118654752440;
  const double n[3] = {(double)touch->normal.x, (double)touch->normal.y, (double)touch->normal.z};
  double axis[3] = {0}, x[3], y[3];
  axis[fabs(n[0]) < 0.6 ? 0 : 1] = 1.0;
  yw_cross3(n, axis, x);
  double length = sqrt(yw_dot3(x, x));
  for (int k = 0; k < 3; ++k) x[k] /= length;
  yw_cross3(n, x, y);
  *p = (patch){.obstacle = touch->obstacle, .nearest = INFINITY};
  for (int k = 0; k < 3; ++k) {
    p->normal[k] = n[k];
    const double d[4] = {x[k], half * (x[k] + y[k]), y[k], half * (y[k] - x[k])};
    for (int i = 0; i < 4; ++i) {
      p->directions[i][k] = d[i];
      p->directions[4 + i][k] = -d[i];
    }
  }
  for (int i = 0; i < RIGID_PATCH_CONTACTS; ++i) {
    p->scores[i] = -INFINITY;
    p->best[i] = -1;
  }
}

// The patch of a touch. When there are too many, the one that faces most alike.
static int32_t patch_of(search* s, const yw_touch* touch) {
  const double n[3] = {(double)touch->normal.x, (double)touch->normal.y, (double)touch->normal.z};
  double likest = -INFINITY;
  int32_t found = 0;
  for (int32_t i = 0; i < s->num_patches; ++i) {
    double like = yw_dot3(n, s->patches[i].normal);
    if (s->patches[i].obstacle == touch->obstacle && like > SAME_PATCH) return i;
    if (like > likest) {
      likest = like;
      found = i;
    }
  }
  if (s->num_patches == RIGID_PATCHES) return found;
  start_patch(&s->patches[s->num_patches], touch);
  return s->num_patches++;
}

static void note_meeting(search* s, int32_t ball, const yw_touch* touch, yw_vec3 from, yw_vec3 to) {
  if (s->body->num_meetings == s->body->max_meetings) return;
  yw_vec3 way = yw_mad(yw_sub(to, from), -s->ctx->h, touch->velocity);
  rigid_meeting m = {.ball = ball, .patch = patch_of(s, touch), .touch = *touch};
  m.end_gap = touch->gap + yw_dot(touch->normal, way);
  patch* p = &s->patches[m.patch];
  if (touch->gap < p->nearest) p->nearest = touch->gap;
  s->body->meetings[s->body->num_meetings++] = m;
}

static void take(patch* p, int slot, double score, int32_t meeting) {
  if (!(score > p->scores[slot])) return;
  p->scores[slot] = score;
  p->best[slot] = meeting;
}

static void choose_contacts(search* s) {
  const rigid_model* model = s->body->model;
  for (int32_t i = 0; i < s->body->num_meetings; ++i) {
    const rigid_meeting* m = &s->body->meetings[i];
    patch* p = &s->patches[m->patch];
    const float* local = model->balls[m->ball].local;
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = s->from[3 * k] * (double)local[0] + s->from[3 * k + 1] * (double)local[1] +
             s->from[3 * k + 2] * (double)local[2];
    }
    bool as_near = m->touch.gap <= p->nearest + (float)AS_NEAR * model->size;
    take(p, 0, -(double)m->end_gap, i);
    for (int d = 0; as_near && d < 8; ++d) take(p, 1 + d, yw_dot3(x, p->directions[d]), i);
  }
}

// Search ------------------------------------------------------------------------------------------

static void search_group(search* s, int32_t first, int32_t end, float margin) {
  const rigid_model* model = s->body->model;
  for (int32_t b = first; b < end; ++b) {
    const rigid_ball* ball = &model->balls[b];
    yw_vec3 from = place(s->from, s->body->motion.center, ball->local);
    yw_vec3 to = place(s->to, s->end.center, ball->local);
    yw_touch touches[MAX_TOUCHES];
    int32_t count = s->ctx->touch(s->ctx, from, to, ball->radius, margin, MAX_TOUCHES, touches);
    for (int32_t i = 0; i < count; ++i) note_meeting(s, b, &touches[i], from, to);
  }
}

static bool group_is_clear(const search* s, const rigid_ball* group, float margin) {
  yw_aabb box = yw_aabb_empty();
  box = yw_aabb_grow(box, place(s->from, s->body->motion.center, group->local));
  box = yw_aabb_grow(box, place(s->to, s->end.center, group->local));
  return s->ctx->is_clear && s->ctx->is_clear(s->ctx, yw_aabb_pad(box, group->radius + margin));
}

// Contacts ----------------------------------------------------------------------------------------

// Aims at a bounce: the ball touches at some time in the substep, and leaves with a share of its
// speed for the rest of it. False for slow approaches and balls that touched before.
static bool aim_bounce(const rigid_body* body, const yw_step_ctx* ctx, const yw_touch* touch,
                       yw_rigid_contact* c, double slop) {
  const yw_rigid_motion* m = &body->motion;
  const double g[3] = {(double)ctx->gravity.x, (double)ctx->gravity.y, (double)ctx->gravity.z};
  double h = (double)ctx->h, e = (double)touch->restitution, u[3], arm[3];
  if (!(e > 0.0) || c->gap <= slop) return false;
  const yw_turn q = {m->rotation[0], m->rotation[1], m->rotation[2], m->rotation[3]};
  yw_turn_apply(q, c->local, arm);
  for (int k = 0; k < 3; ++k) arm[k] -= c->radius * c->normal[k];
  yw_rigid_velocity_at(m, arm, u);
  for (int k = 0; k < 3; ++k) u[k] -= c->drift[k] + m->kick[k];
  // gap + v t + g t^2 / 2 = 0
  double v = yw_dot3(u, c->normal), pull = yw_dot3(g, c->normal);
  double root = v * v - 2.0 * pull * c->gap;
  if (!(root > 0.0)) return false;
  double t = 2.0 * c->gap / (sqrt(root) - v), speed = sqrt(root);
  if (!(t >= 0.0 && t < h) || speed <= REST_STEPS * sqrt(yw_dot3(g, g)) * h) return false;
  double left = h - t, leave = e * speed;
  c->target = (left * (leave + 0.5 * pull * left) - c->gap) / h;
  c->end_target = leave + pull * left;
  return true;
}

// The share of the substep before they touch, if nothing stopped the ball.
static double share_before_touch(const rigid_meeting* m) {
  float gap = m->touch.gap, way = gap - m->end_gap;
  if (!(gap > 0.0f)) return 0.0;
  return way > gap ? (double)(gap / way) : 1.0;
}

static yw_rigid_contact make_contact(const rigid_body* body, const yw_step_ctx* ctx,
                                     const rigid_meeting* found) {
  const rigid_ball* ball = &body->model->balls[found->ball];
  const yw_touch* t = &found->touch;
  yw_rigid_contact c = {
      .radius = (double)ball->radius,
      .friction = (double)t->friction,
      .gap = (double)t->gap,
      .share = share_before_touch(found),
      .normal = {(double)t->normal.x, (double)t->normal.y, (double)t->normal.z},
      .drift = {(double)t->velocity.x, (double)t->velocity.y, (double)t->velocity.z}};
  double length = sqrt(yw_dot3(c.normal, c.normal)), h = (double)ctx->h;
  for (int k = 0; k < 3; ++k) {
    c.local[k] = (double)ball->local[k];
    c.normal[k] /= length;
  }
  const double* at = body->motion.center;
  double far = fabs(at[0]) + fabs(at[1]) + fabs(at[2]) + (double)body->model->size;
  double slop = SLOP * far;
  if (aim_bounce(body, ctx, t, &c, slop)) return c;
  double depth = -c.gap - slop;
  c.target = depth > 0.0 ? fmin(PUSH_OUT * depth / h, PUSH_OUT_SPEED) : fmin(0.0, -c.gap / h);
  return c;
}

// The flat face that lies on the patch of a contact.
static const rigid_face* face_on(const rigid_body* body, const yw_rigid_contact* c) {
  const double *q = body->motion.start_rotation,
               out[3] = {-c->normal[0], -c->normal[1], -c->normal[2]};
  double local[3];
  yw_turn_apply(yw_turn_conjugate((yw_turn){q[0], q[1], q[2], q[3]}), out, local);
  for (int32_t i = 0; i < body->model->num_faces; ++i) {
    if (yw_dot3(local, body->model->faces[i].normal) > LYING) return &body->model->faces[i];
  }
  return NULL;
}

static void list_contact(rigid_body* body, const yw_step_ctx* ctx, int32_t meeting) {
  yw_rigid_motion* m = &body->motion;
  rigid_meeting* found = &body->meetings[meeting];
  if (found->listed || m->num_contacts == RIGID_CONTACTS) return;
  found->listed = true;
  yw_rigid_contact* c = &body->contacts[m->num_contacts++];
  *c = make_contact(body, ctx, found);
  const rigid_face* face = face_on(body, c);
  c->face = face ? found->patch : -1;
  c->reach = face ? face->reach : 0.0;
}

bool yw_rigid_add_missed(rigid_body* body, const yw_step_ctx* ctx) {
  const yw_rigid_motion* m = &body->motion;
  const double *q = m->start_rotation, *e = m->rotation;
  double from[9], to[9], deepest[RIGID_PATCHES];
  int32_t worst[RIGID_PATCHES], before = m->num_contacts;
  yw_turn_matrix((yw_turn){q[0], q[1], q[2], q[3]}, from);
  yw_turn_matrix((yw_turn){e[0], e[1], e[2], e[3]}, to);
  for (int p = 0; p < RIGID_PATCHES; ++p) {
    deepest[p] = -MISSED * (double)body->model->size;
    worst[p] = -1;
  }
  for (int32_t i = 0; i < body->num_meetings; ++i) {
    const rigid_meeting* found = &body->meetings[i];
    if (found->listed) continue;
    const float* local = body->model->balls[found->ball].local;
    yw_vec3 a = place(from, m->start_center, local), b = place(to, m->center, local);
    yw_vec3 way = yw_mad(yw_sub(b, a), -ctx->h, found->touch.velocity);
    double gap = (double)found->touch.gap + (double)yw_dot(found->touch.normal, way);
    if (found->touch.gap < 0.0f) gap -= (double)found->touch.gap;
    if (gap >= deepest[found->patch]) continue;
    deepest[found->patch] = gap;
    worst[found->patch] = i;
  }
  for (int p = 0; p < RIGID_PATCHES; ++p) {
    if (worst[p] >= 0) list_contact(body, ctx, worst[p]);
  }
  return m->num_contacts > before;
}

void yw_rigid_find_contacts(rigid_body* body, const yw_step_ctx* ctx) {
  const rigid_model* model = body->model;
  body->motion.contacts = body->contacts;
  body->motion.num_contacts = body->num_meetings = 0;
  if (!ctx->touch) return;
  search s = {.body = body, .ctx = ctx, .end = body->motion};
  yw_rigid_move(&s.end, (double)ctx->h);
  const double *q = body->motion.rotation, *e = s.end.rotation;
  yw_turn_matrix((yw_turn){q[0], q[1], q[2], q[3]}, s.from);
  yw_turn_matrix((yw_turn){e[0], e[1], e[2], e[3]}, s.to);
  float margin = MARGIN * model->size;
  for (int32_t g = 0; g < model->num_groups; ++g) {
    if (group_is_clear(&s, &model->groups[g], margin)) continue;
    int32_t first = g * RIGID_GROUP, left = model->num_balls - first;
    search_group(&s, first, first + (left < RIGID_GROUP ? left : RIGID_GROUP), margin);
  }
  choose_contacts(&s);
  for (int32_t p = 0; p < s.num_patches; ++p) {
    for (int i = 0; i < RIGID_PATCH_CONTACTS; ++i) {
      if (s.patches[p].best[i] >= 0) list_contact(body, ctx, s.patches[p].best[i]);
    }
  }
}
