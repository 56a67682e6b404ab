// SPDX-License-Identifier: MIT
// A stack of soft boxes sways as a whole, each box almost rigidly: damping of the material acts on
// what is not rigid, and contacts that stick take no energy. What real stacks lose in their
// contacts (slip at the edges, hysteresis, air pressed out) is below what contact resolves, so it
// is given as a rate: bodies that touch each other, lie on something and are all slow lose speed as
// if in a thick liquid. At the speeds concerned this is less than 1 % of their weight.
//
// Where they are faster, but stick to each other, they bounce and sway, and lose speed at that same
// rate: losses in joints depend on how far they are loaded, not on how fast.
#include "contact/surfaces/calm.h"

#include <math.h>

// Times the speed at which bodies sleep: slower ones lose speed, and all of the rate at half of it.
#define CALM 6.0f
// The same for bodies that stick to each other.
#define SWAYING 60.0f
// Share of the pressure at contacts that slide where bodies do not stick.
#define SLIDES 0.5
// Friction this near to its limit slides, and so does what moves faster than this, m/s.
#define AT_LIMIT 0.999f
#define SLIP 0.01f
// s, in which the rest of the motion goes.
#define CALM_TIME 0.15f
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

// Sums up what presses, and what of it slides.
static void note_sliding(const yw_surfaces* c, const yw_contact_problem* problem) {
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &problem->batches[i];
    yw_contact_island* island = &problem->islands[batch->island];
    if (!may_calm(island) || island->pace >= SWAYING) continue;
    for (int32_t k = 0; k < batch->count; ++k) {
      const yw_contact* p = &batch->contacts[k];
      float limit = AT_LIMIT * p->friction_limit * p->impulse;
      island->pressed += (double)p->impulse;
      bool slides = p->slip > SLIP || yw_length2(p->friction) >= limit * limit;
      if (slides) island->sliding += (double)p->impulse;
    }
  }
}

// The share of the full rate at which an island loses speed.
static float share_of(const yw_contact_island* island) {
  float pace = island->pace;
  bool sticks = island->sliding < SLIDES * island->pressed;
  if (sticks && pace < SWAYING) return fminf(0.5f * CALM / pace, 1.0f);
  return pace < CALM ? fminf(2.0f - 2.0f * pace / CALM, 1.0f) : 0.0f;
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
    if (!may_calm(island) || island->pace > SWAYING) continue;
    island->pace = fmaxf(island->pace, pace_of(&problem->bodies[i], c->works.items[i].box));
  }
  note_sliding(c, problem);
  for (int32_t i = 0; i < c->works.count; ++i) {
    const yw_contact_island* island = &islands[c->island_of.items[i]];
    const yw_contact_body* body = &problem->bodies[i];
    // Rigid bodies come to rest by themselves.
    if (!may_calm(island) || body->rigid || body->asleep) continue;
    float share = share_of(island);
    if (share == 0.0f) continue;
    slow_down(body, 1.0f - fminf(share * problem->h / CALM_TIME, 1.0f));
  }
}
