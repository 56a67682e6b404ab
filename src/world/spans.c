// SPDX-License-Identifier: MIT
// Work on the particles of all bodies at once, by all workers: large bodies are cut into spans.
#include "world/world.h"

#define SPAN 4096

void yw_spans_add(yw_world* world, yw_body* body) {
  int32_t count = body->particles.count, spans = (count + SPAN - 1) / SPAN;
  spans = spans < 1 ? 1 : spans > YW_MAX_SPANS ? YW_MAX_SPANS : spans;
  for (int64_t k = 0; k < spans; ++k) {
    int32_t first = (int32_t)(count * k / spans), end = (int32_t)(count * (k + 1) / spans);
    world->spans.items[world->spans.count++] = (yw_span){body, first, end - first, false};
  }
}

void yw_spans_run(yw_world* world, yw_task task) {
  yw_tasks_run(world->tasks, world->spans.count, task, world);
  world->spans.count = 0;
}
