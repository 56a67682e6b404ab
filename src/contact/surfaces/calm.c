// SPDX-License-Identifier: MIT
// A stack of soft boxes sways as a whole, each box almost rigidly: damping of the material acts on
// what is not rigid, and contacts that stick take no energy. What real stacks lose in their
// contacts (slip at the edges, hysteresis, air pressed out) is below what contact resolves, so it
// is given as a rate: bodies that touch each other, lie on something and are all slow lose speed as
// if in a thick liquid. At the speeds concerned this is less than 1 % of their weight.
#include "contact/surfaces/calm.h"

#include <math.h>

// Times the speed at which bodies sleep: slower ones lose speed, and all of the rate at half of it.
#define CALM 6.0f
// s, in which the rest of the motion goes.
#define CALM_TIME 0.2f
// Small bodies have to be slower: this share of their size in a second, as for sleep.
#define SIZE_SHARE 0.02f

// Root mean square of the speeds of a body, over the speed of rest.
static float pace_of(const yw_contact_body* body, yw_aabb box) {
  const yw_particles* p = body->particles;
  double sum = 0.0;
  for (int32_t i = 0; i < p->count; ++i) sum += (double)yw_length2(yw_xyz(p->vel[i]));
  float rest = fminf(body->rest_speed, SIZE_SHARE * yw_distance(box.lower, box.upper));
  return rest > 0.0f ? sqrtf((float)(sum / p->count)) / rest : INFINITY;
}

static void note_support(const yw_surfaces* c, const yw_contact_problem* problem) {
  for (int32_t i = 0; i < c->works.count; ++i) {
    if (problem->bodies[i].obstacles) problem->islands[c->island_of.items[i]].supported = true;
  }
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &problem->batches[i];
    bool obstacle = problem->bodies[batch->a].is_obstacle || problem->bodies[batch->b].is_obstacle;
    if (obstacle) problem->islands[batch->island].supported = true;
  }
}

static bool may_calm(const yw_contact_island* island) {
  return island->touches && island->supported && !island->thin && !island->driven;
}

static void slow_down(const yw_contact_body* body, float keep) {
  yw_particles* p = body->particles;
  for (int32_t i = 0; i < p->count; ++i) p->vel[i] = yw_v4(yw_scale(yw_xyz(p->vel[i]), keep));
}

void yw_calm_islands(const yw_surfaces* c, const yw_contact_problem* problem) {
  yw_contact_island* islands = problem->islands;
  note_support(c, problem);
  for (int32_t i = 0; i < c->works.count; ++i) {
    yw_contact_island* island = &islands[c->island_of.items[i]];
    // One that is too fast is enough.
    if (!may_calm(island) || island->pace > CALM) continue;
    island->pace = fmaxf(island->pace, pace_of(&problem->bodies[i], c->works.items[i].box));
  }
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_island* island = &islands[c->island_of.items[i]];
    const yw_contact_body* body = &problem->bodies[i];
    // Rigid bodies come to rest by themselves.
    if (!may_calm(island) || !(island->pace < CALM) || body->rigid || body->asleep) continue;
    float share = fminf(2.0f - 2.0f * island->pace / CALM, 1.0f);
    slow_down(body, 1.0f - fminf(share * problem->h / CALM_TIME, 1.0f));
  }
}
