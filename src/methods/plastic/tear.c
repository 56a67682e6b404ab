// SPDX-License-Identifier: MIT
// Sheets of one layer that soften tear between two rows of masters.
//
// DIFFERS: the paper's hardening weakens a master with its own stretch, but that is measured over
// four rows. A crack then weakens all of them, whatever lies between separates as threads, and how
// many depends on the step. Here strength is lost where neighbours part. Flow weakens a master by a
// factor of e at most. A link that is longer than neighbours at rest are apart, and longer than the
// two next to it on its line, opens: the strength of its two masters is that of its stretch. Once
// it has parted, what was weak is a gap, and matter beside it is as strong as before.
#include <math.h>
#include <string.h>

#include "methods/plastic/phases.h"
#include "methods/plastic/slave_steps.h"
#include "yawara/extend/memory.h"

// Of an opening link, in units of d: the distance up to which masters are neighbours at rest.
#define LEAST_OPENING 1.25f

typedef struct tear_link {
  int32_t link, a, b;
} tear_link;

struct plastic_tear {
  int32_t num_triples, num_links;
  plastic_triple* triples;
  tear_link* links;   // of masters that soften
  float* stretch;     // per link of the body, of its rest length d
  uint8_t* is_short;  // per link of the body: another one of its line opens instead
  float* opening;     // per master: largest stretch of links that open, 0: none
  uint8_t* is_ours;   // per master: in such a sheet
};

static bool softens(const plastic_model* model, int32_t m) {
  const plastic_material_block* material = yw_plastic_material_of(model, m);
  int32_t lane = m % YW_LANES;
  return material->xi[lane] > 0.0f && material->high[lane] < INFINITY;
}

void yw_plastic_tear_destroy(plastic_body* body) {
  struct plastic_tear* tear = body->tear;
  if (!tear) return;
  void* const arrays[] = {tear->triples,  tear->links,   tear->stretch,
                          tear->is_short, tear->opening, tear->is_ours};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(&body->mem, arrays[i]);
  yw_mem_free(&body->mem, tear);
  body->tear = NULL;
}

static bool reserve(struct plastic_tear* tear, const yw_allocator* mem,
                    const plastic_model* model) {
  tear->links = YW_NEW_ARRAY(mem, tear_link, 2 * tear->num_triples);
  tear->stretch = YW_NEW_ARRAY(mem, float, model->num_links);
  tear->is_short = YW_NEW_ARRAY(mem, uint8_t, model->num_links);
  tear->opening = YW_NEW_ARRAY(mem, float, model->num_masters);
  tear->is_ours = YW_NEW_ARRAY(mem, uint8_t, model->num_masters);
  return tear->links && tear->stretch && tear->is_short && tear->opening && tear->is_ours;
}

// Every link of a triple once; is_short marks those that are listed.
static void list_links(struct plastic_tear* tear) {
  for (int32_t i = 0; i < tear->num_triples; ++i) {
    const plastic_triple* t = &tear->triples[i];
    tear->is_ours[t->middle] = tear->is_ours[t->a] = tear->is_ours[t->b] = 1;
    for (int k = 0; k < 2; ++k) {
      if (tear->is_short[t->links[k]]) continue;
      tear->is_short[t->links[k]] = 1;
      tear->links[tear->num_links++] = (tear_link){t->links[k], t->middle, k ? t->b : t->a};
    }
  }
}

bool yw_plastic_tear_create(plastic_body* body) {
  plastic_triple* triples = NULL;
  int32_t count = 0;
  if (!yw_plastic_list_triples(body->model, &body->mem, softens, &triples, &count)) return false;
  if (count == 0) return true;
  body->tear = YW_NEW(&body->mem, struct plastic_tear);
  if (!body->tear) {
    yw_mem_free(&body->mem, triples);
    return false;
  }
  body->tear->triples = triples;
  body->tear->num_triples = count;
  if (!reserve(body->tear, &body->mem, body->model)) return false;
  list_links(body->tear);
  return true;
}

static bool opens(const plastic_body* body, const tear_link* l) {
  const struct plastic_tear* tear = body->tear;
  // Those beyond two spacings have parted.
  float s = tear->stretch[l->link];
  return body->is_linked[l->link] && !tear->is_short[l->link] && s > LEAST_OPENING && s < 2.0f;
}

static void find_openings(plastic_body* body, const yw_particles* particles) {
  struct plastic_tear* tear = body->tear;
  int32_t n = body->num_masters;
  float inv = 1.0f / body->model->spacing;
  memset(tear->opening, 0, (size_t)n * sizeof *tear->opening);
  for (int32_t i = 0; i < tear->num_links; ++i) {
    const tear_link* l = &tear->links[i];
    bool is_here = l->a < n && l->b < n;
    float d2 = is_here ? plastic_distance2(particles->pos[l->a], particles->pos[l->b]) : 0.0f;
    tear->stretch[l->link] = inv * sqrtf(d2);
    tear->is_short[l->link] = 0;
  }
  for (int32_t i = 0; i < tear->num_triples; ++i) {
    const int32_t* links = tear->triples[i].links;
    bool first = tear->stretch[links[0]] < tear->stretch[links[1]];
    tear->is_short[links[first ? 0 : 1]] = 1;
  }
  for (int32_t i = 0; i < tear->num_links; ++i) {
    const tear_link* l = &tear->links[i];
    if (l->a >= n || l->b >= n || !opens(body, l)) continue;
    float s = tear->stretch[l->link];
    if (s > tear->opening[l->a]) tear->opening[l->a] = s;
    if (s > tear->opening[l->b]) tear->opening[l->b] = s;
  }
}

void yw_plastic_soften_openings(plastic_body* body, const yw_particles* particles) {
  struct plastic_tear* tear = body->tear;
  if (!tear) return;
  find_openings(body, particles);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    int32_t lane = m % YW_LANES;
    plastic_state_block* state = &body->state[m / YW_LANES];
    float xi = body->materials[m / YW_LANES].xi[lane];
    if (!tear->is_ours[m] || !(xi > 0.0f) || body->sleep.island[m] >= 0) continue;
    float det = fminf(state->det_p[lane], 1.0f + 1.0f / xi);
    state->det_p[lane] = det;
    state->harden[lane] = plastic_hardening(xi, fmaxf(det, tear->opening[m]));
  }
}
