// SPDX-License-Identifier: MIT
#include "world/world.h"

#include "device/device.h"
#include "world/setup.h"

yw_world_def yw_default_world_def(void) {
  return (yw_world_def){
      .gravity = {0.0f, -9.81f, 0.0f}, .contact_iterations = 4, .contact = YW_CONTACT_SURFACES};
}

yw_status yw_world_create(const yw_world_def* def, yw_world** out) {
  if (!def || !out) return YW_ERR_INVALID;
  *out = NULL;
  if (!yw_is_finite3(def->gravity) || def->threads < 0 || def->contact_iterations < 1 ||
      def->contact_iterations > 64 || def->contact < YW_CONTACT_POINTS ||
      def->contact > YW_CONTACT_SURFACES) {
    return YW_ERR_INVALID;
  }
  if (def->jobs.run && (def->jobs.workers < 1 || def->jobs.workers > YW_MAX_WORKERS)) {
    return YW_ERR_INVALID;
  }
  const yw_device* device;
  yw_status found = yw_device_find((yw_device_kind)def->device, &device, NULL);
  if (found < 0) return found;
  yw_world* world = YW_NEW(&def->mem, yw_world);
  if (!world) return YW_ERR_MEMORY;
  world->device = device;
  world->mem = yw_mem_or_default(&def->mem);
  world->gravity = world->built_gravity = def->gravity;
  world->impact_speed = 1.0f;
  world->sleep_speed = YW_DEFAULT_SLEEP_SPEED;
  world->rollback = def->rollback;
  world->contact_iterations = def->contact_iterations;
  world->simd = yw_simd_resolve(def->simd);
  world->tasks = def->jobs.run ? yw_tasks_create_on(&world->mem, &def->jobs)
                               : yw_tasks_create(&world->mem, def->threads);
  world->queries = yw_queries_create(&world->mem);
  world->shown_surfaces = yw_shown_surfaces_create(&world->mem);
  bool surfaces = def->contact == YW_CONTACT_SURFACES;
  if (surfaces) world->surfaces = yw_surfaces_create(&world->mem, world->simd);
  if (!surfaces) world->points = yw_points_create(&world->mem);
  if (!world->tasks || !world->queries || !world->shown_surfaces ||
      (!world->points && !world->surfaces)) {
    yw_world_destroy(world);
    return YW_ERR_MEMORY;
  }
  *out = world;
  return YW_OK;
}

void yw_world_destroy(yw_world* world) {
  if (!world) return;
  yw_order_give(world, (yw_order){.kind = YW_ORDER_END});
  for (int32_t i = 0; i < world->pins.count; ++i) yw_pin_release(world, &world->pins.items[i]);
  for (int32_t i = 0; i < world->joints.count; ++i) {
    yw_joint_release(world, &world->joints.items[i]);
  }
  for (int32_t i = 0; i < world->tracks.count; ++i) {
    yw_track_release(world, &world->tracks.items[i]);
  }
  for (int32_t i = 0; i < world->bodies.count; ++i) yw_body_release(world, &world->bodies.items[i]);
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    yw_world_obstacle_release(world, &world->obstacles.items[i]);
  }
  yw_setup_release(world);
  yw_queries_destroy(world->queries);
  yw_shown_surfaces_destroy(world->shown_surfaces);
  yw_book_destroy(world->book);
  yw_points_destroy(world->points);
  yw_surfaces_destroy(world->surfaces);
  yw_tasks_destroy(world->tasks);
  yw_allocator mem = world->mem;
  YW_LIST_FREE(&mem, &world->bodies);
  YW_LIST_FREE(&mem, &world->body_order);
  YW_LIST_FREE(&mem, &world->pins);
  YW_LIST_FREE(&mem, &world->obstacles);
  YW_LIST_FREE(&mem, &world->contact_bodies);
  YW_LIST_FREE(&mem, &world->responders);
  YW_LIST_FREE(&mem, &world->body_boxes);
  YW_LIST_FREE(&mem, &world->obstacle_poses);
  YW_LIST_FREE(&mem, &world->chosen_obstacles);
  YW_LIST_FREE(&mem, &world->pairs_apart);
  YW_LIST_FREE(&mem, &world->apart);
  YW_LIST_FREE(&mem, &world->filters);
  YW_LIST_FREE(&mem, &world->small_bodies);
  YW_LIST_FREE(&mem, &world->spans);
  YW_LIST_FREE(&mem, &world->joints);
  YW_LIST_FREE(&mem, &world->tracks);
  YW_LIST_FREE(&mem, &world->joined);
  YW_LIST_FREE(&mem, &world->motions);
  YW_LIST_FREE(&mem, &world->parting);
  YW_LIST_FREE(&mem, &world->partings);
  YW_LIST_FREE(&mem, &world->touching);
  YW_LIST_FREE(&mem, &world->islands);
  yw_mem_free(&mem, world->order_depth);
  yw_mem_free(&mem, world);
}

double yw_world_time(const yw_world* world) { return world ? world->time : 0.0; }
uint64_t yw_world_step_count(const yw_world* world) { return world ? world->step_count : 0; }
