// SPDX-License-Identifier: MIT
// Bodies whose particles are on a device. They stay there over the substeps of a step where nothing
// else looks at them, and otherwise come back after every substep; between steps, and for whoever
// reads, they are always here.
#include "world/world.h"

static bool has_joints(const yw_world* world) {
  for (int32_t i = 0; i < world->joints.count; ++i) {
    if (world->joints.items[i].generation & 1) return true;
  }
  return false;
}

static bool has_drives(const yw_world* world) {
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    const yw_track* track = &world->tracks.items[i];
    if ((track->generation & 1) && track->drive) return true;
  }
  return false;
}

static bool has_sleepers(const yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    if (yw_body_in_order(world, i)->asleep) return true;
  }
  return false;
}

// Targets of pins that follow begin where the particles are.
static bool follows(const yw_world* world, uint32_t slot) {
  for (int32_t i = 0; i < world->pins.count; ++i) {
    const yw_pin* pin = &world->pins.items[i];
    if ((pin->generation & 1) && pin->body == slot && pin->follow) return true;
  }
  return false;
}

static int32_t num_partners(const yw_world* world) {
  int32_t partners = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    partners += yw_body_in_order(world, i)->body_contact;
  }
  return partners;
}

void yw_away_begin_step(yw_world* world) {
  if (!world->device) return;
  bool is_watched = world->surfaces || world->book || world->notes_forces ||
                    world->wind.density > 0.0f || has_joints(world) || has_drives(world) ||
                    has_sleepers(world);
  int32_t partners = num_partners(world);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    bool touches = body->self_contact || (body->body_contact && partners > 1);
    body->stays = body->model->method->is_away && !is_watched && !touches && !body->is_pushed &&
                  !follows(world, world->body_order.items[i]);
  }
}

bool yw_body_is_away(const yw_body* body) {
  const yw_method* method = body->model->method;
  return method->is_away && method->is_away(body->state);
}

yw_status yw_away_end_step(yw_world* world, yw_step_report* report) {
  if (!world->device) return YW_OK;
  yw_status worst = YW_OK;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    if (!yw_body_is_away(body)) continue;
    yw_method_report found = {0};
    body->status = body->model->method->fetch(body->state, &body->particles, &found);
    report->recovered_regions += found.recovered;
    report->obstacle_contacts += found.obstacle_contacts;
    body->report.obstacle_contacts = found.obstacle_contacts;
    if (body->status == YW_ERR_DEVICE) worst = YW_ERR_DEVICE;
  }
  return worst;
}

void yw_away_note_shown(yw_world* world) {
  for (int32_t i = 0; world->device && i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    body->known = body->stays ? body->changes : 0;
  }
}
