// SPDX-License-Identifier: MIT
#include "world/setup.h"

#include "world/setup_parts.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"

// What is kept ------------------------------------------------------------------------------------

void yw_setup_keep_model(yw_world* world, yw_model* model) {
  if (!world->rollback) return;
  for (int32_t i = 0; i < world->kept_models.count; ++i) {
    if (world->kept_models.items[i]->hash == model->hash) return;
  }
  if (!YW_LIST_RESERVE(&world->mem, &world->kept_models, 1)) return;
  world->kept_models.items[world->kept_models.count++] = yw_model_retain(model);
}

static void keep_shape(yw_world* world, yw_shape* shape, uint64_t hash) {
  if (!world->rollback) return;
  for (int32_t i = 0; i < world->kept_shapes.count; ++i) {
    if (world->kept_shapes.items[i].hash == hash) return;
  }
  if (!YW_LIST_RESERVE(&world->mem, &world->kept_shapes, 1)) return;
  world->kept_shapes.items[world->kept_shapes.count++] =
      (yw_kept_shape){yw_shape_retain(shape), hash};
}

void yw_setup_keep_obstacle(yw_world* world, const yw_world_obstacle* o) {
  if (o->shape) keep_shape(world, o->shape, o->shape_hash);
  if (!o->mesh || !world->rollback) return;
  for (int32_t i = 0; i < world->kept_meshes.count; ++i) {
    if (world->kept_meshes.items[i] == o->mesh) return;
  }
  if (!YW_LIST_RESERVE(&world->mem, &world->kept_meshes, 1)) return;
  world->kept_meshes.items[world->kept_meshes.count++] = o->mesh;
  ++o->mesh->more_uses;
}

yw_follow* yw_setup_find_follow(const yw_world* world, uint64_t hash) {
  for (int32_t i = 0; i < world->kept_follows.count; ++i) {
    yw_follow* kept = world->kept_follows.items[i];
    if (yw_follow_hash(kept, YW_HASH_SEED) == hash) return kept;
  }
  return NULL;
}

void yw_setup_keep_follow(yw_world* world, yw_follow* follow) {
  if (!world->rollback || yw_setup_find_follow(world, yw_follow_hash(follow, YW_HASH_SEED))) return;
  if (!YW_LIST_RESERVE(&world->mem, &world->kept_follows, 1)) return;
  world->kept_follows.items[world->kept_follows.count++] = follow;
  ++follow->more_uses;
}

void yw_setup_release(yw_world* world) {
  for (int32_t i = 0; i < world->kept_models.count; ++i) {
    yw_model_release(world->kept_models.items[i]);
  }
  for (int32_t i = 0; i < world->kept_shapes.count; ++i) {
    yw_shape_release(world->kept_shapes.items[i].shape);
  }
  for (int32_t i = 0; i < world->kept_meshes.count; ++i) {
    yw_animated_mesh_release(&world->mem, world->kept_meshes.items[i]);
  }
  for (int32_t i = 0; i < world->kept_follows.count; ++i) {
    yw_follow_release(&world->mem, world->kept_follows.items[i]);
  }
  YW_LIST_FREE(&world->mem, &world->kept_models);
  YW_LIST_FREE(&world->mem, &world->kept_shapes);
  YW_LIST_FREE(&world->mem, &world->kept_meshes);
  YW_LIST_FREE(&world->mem, &world->kept_follows);
}

// All models and shapes at hand while a setup is read: those of bodies and obstacles that are about
// to go, too.
typedef struct stock {
  YW_LIST(yw_model*) models;
  YW_LIST(yw_kept_shape) shapes;
  YW_LIST(yw_animated_mesh*) meshes;
} stock;

static void add_mesh(stock* all, yw_animated_mesh* mesh) {
  all->meshes.items[all->meshes.count++] = mesh;
  ++mesh->more_uses;
}

static bool collect(yw_world* world, stock* all) {
  if (!YW_LIST_RESERVE(&world->mem, &all->models,
                       2 * world->bodies.count + world->kept_models.count) ||
      !YW_LIST_RESERVE(&world->mem, &all->shapes,
                       2 * world->obstacles.count + world->kept_shapes.count) ||
      !YW_LIST_RESERVE(&world->mem, &all->meshes,
                       2 * world->obstacles.count + world->kept_meshes.count)) {
    return false;
  }
  for (int32_t i = 0; i < world->bodies.count; ++i) {
    yw_model* model = world->bodies.items[i].model;
    if (!model) continue;
    yw_setup_keep_model(world, model);
    all->models.items[all->models.count++] = yw_model_retain(model);
  }
  for (int32_t i = 0; i < world->kept_models.count; ++i) {
    all->models.items[all->models.count++] = yw_model_retain(world->kept_models.items[i]);
  }
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    const yw_world_obstacle* o = &world->obstacles.items[i];
    if (!(o->generation & 1)) continue;
    yw_setup_keep_obstacle(world, o);
    if (o->mesh) add_mesh(all, o->mesh);
    if (o->mesh) continue;
    all->shapes.items[all->shapes.count++] =
        (yw_kept_shape){yw_shape_retain(o->shape), o->shape_hash};
  }
  for (int32_t i = 0; i < world->kept_meshes.count; ++i) {
    add_mesh(all, world->kept_meshes.items[i]);
  }
  for (int32_t i = 0; i < world->kept_shapes.count; ++i) {
    yw_kept_shape kept = world->kept_shapes.items[i];
    all->shapes.items[all->shapes.count++] =
        (yw_kept_shape){yw_shape_retain(kept.shape), kept.hash};
  }
  return true;
}

static void release(yw_world* world, stock* all) {
  for (int32_t i = 0; i < all->models.count; ++i) yw_model_release(all->models.items[i]);
  for (int32_t i = 0; i < all->shapes.count; ++i) yw_shape_release(all->shapes.items[i].shape);
  for (int32_t i = 0; i < all->meshes.count; ++i) {
    yw_animated_mesh_release(&world->mem, all->meshes.items[i]);
  }
  YW_LIST_FREE(&world->mem, &all->models);
  YW_LIST_FREE(&world->mem, &all->shapes);
  YW_LIST_FREE(&world->mem, &all->meshes);
}

static yw_animated_mesh* find_mesh(const stock* all, uint64_t hash) {
  int32_t i = 0;
  while (i < all->meshes.count && all->meshes.items[i]->hash != hash) ++i;
  return i < all->meshes.count ? all->meshes.items[i] : NULL;
}

static yw_model* find_model(const stock* all, uint64_t hash) {
  int32_t i = 0;
  while (i < all->models.count && all->models.items[i]->hash != hash) ++i;
  return i < all->models.count ? all->models.items[i] : NULL;
}

static yw_shape* find_shape(const stock* all, uint64_t hash) {
  int32_t i = 0;
  while (i < all->shapes.count && all->shapes.items[i].hash != hash) ++i;
  return i < all->shapes.count ? all->shapes.items[i].shape : NULL;
}

// Transforms --------------------------------------------------------------------------------------

static void write_transform(yw_writer* w, const yw_transform* t) {
  write_floats(w, &t->position.x, 3);
  write_floats(w, &t->rotation.x, 4);
  write_floats(w, &t->scale, 1);
}

static yw_transform read_transform(yw_reader* r) {
  yw_transform t;
  read_floats(r, &t.position.x, 3);
  read_floats(r, &t.rotation.x, 4);
  read_floats(r, &t.scale, 1);
  return t;
}

// Bodies ------------------------------------------------------------------------------------------

static void write_body(yw_writer* w, const yw_body* body) {
  yw_write_bytes(w, body->name, sizeof body->name);
  yw_write_u64(w, body->model->hash);
  write_floats(w, &body->built_friction, 1);
  write_floats(w, &body->restitution, 1);
  yw_write_u32(w, (uint32_t)body->body_contact << 1 | body->self_contact);
  yw_write_u32(w, body->groups);
  yw_write_u32(w, body->mask);
  yw_write_f64(w, body->start);
  write_transform(w, &body->placing);
  write_floats(w, &body->first_velocity.x, 3);
  write_floats(w, &body->first_spin.x, 3);
}

static bool read_body(yw_world* world, const stock* all, yw_reader* r, int32_t slot,
                      uint32_t generation, yw_error* error) {
  char name[YW_NAME_LENGTH];
  yw_body_def def = yw_default_body_def();
  yw_read_bytes(r, name, sizeof name);
  name[sizeof name - 1] = 0;
  uint64_t hash = yw_read_u64(r);
  read_floats(r, &def.friction, 1);
  read_floats(r, &def.restitution, 1);
  uint32_t flags = yw_read_u32(r);
  def.body_contact = flags & 2;
  def.self_contact = flags & 1;
  def.groups = yw_read_u32(r);
  def.mask = yw_read_u32(r);
  read_doubles(r, &def.start, 1);
  def.transform = read_transform(r);
  read_floats(r, &def.velocity.x, 3);
  read_floats(r, &def.angular_velocity.x, 3);
  def.name = name;
  def.model = find_model(all, hash);
  if (r->failed) return false;
  if (!def.model) {
    yw_fail(error, YW_ERR_INVALID,
            "the model of body \"%s\" is not in this world any more: make worlds that go back with "
            "yw_world_def.rollback",
            name);
    return false;
  }
  yw_body* body = &world->bodies.items[slot];
  if (body->generation == generation && body->model && body->model->hash == hash) {
    yw_body_take_settings(body, &def);
    return true;
  }
  // Another body has this slot, or none.
  yw_body_release(world, body);
  yw_status status = yw_body_rebuild(world, &def, body, error);
  body->generation = status < 0 ? generation + 1 : generation;
  return status >= 0;
}

static bool reserve_slots(yw_world* world, int32_t bodies, int32_t alive) {
  int32_t more = bodies - world->bodies.count;
  return (more <= 0 || YW_LIST_RESERVE(&world->mem, &world->bodies, more)) &&
         yw_world_reserve_bodies(world, alive);
}

// The order of creation names every body once.
static bool read_order(yw_world* world, yw_reader* r, int32_t alive) {
  world->body_order.count = 0;
  for (int32_t i = 0; i < world->bodies.count; ++i) world->bodies.items[i].key = 0;
  for (int32_t i = 0; i < alive; ++i) {
    uint32_t slot = yw_read_u32(r);
    if (r->failed || slot >= (uint32_t)world->bodies.count) return false;
    yw_body* body = &world->bodies.items[slot];
    if (!(body->generation & 1) || body->key != 0) return false;
    body->key = ++world->next_key;
    world->body_order.items[world->body_order.count++] = slot;
  }
  int32_t found = 0;
  for (int32_t i = 0; i < world->bodies.count; ++i) {
    found += (world->bodies.items[i].generation & 1) != 0;
  }
  return found == alive;
}

static bool read_bodies(yw_world* world, const stock* all, yw_reader* r, yw_error* error) {
  int32_t slots = read_count(r, 4), alive = read_count(r, 4);
  if (r->failed || !reserve_slots(world, slots, alive)) return false;
  for (int32_t i = world->bodies.count; i < slots; ++i) world->bodies.items[i] = (yw_body){0};
  for (int32_t i = slots; i < world->bodies.count; ++i) {
    yw_body_release(world, &world->bodies.items[i]);
  }
  world->bodies.count = slots;
  for (int32_t i = 0; i < slots; ++i) {
    uint32_t generation = yw_read_u32(r);
    if (generation & 1) {
      if (!read_body(world, all, r, i, generation, error)) return false;
      continue;
    }
    yw_body_release(world, &world->bodies.items[i]);
    world->bodies.items[i].generation = generation;
  }
  return read_order(world, r, alive);
}

static void write_bodies(const yw_world* world, yw_writer* w) {
  yw_write_u32(w, (uint32_t)world->bodies.count);
  yw_write_u32(w, (uint32_t)world->body_order.count);
  for (int32_t i = 0; i < world->bodies.count; ++i) {
    const yw_body* body = &world->bodies.items[i];
    yw_write_u32(w, body->generation);
    if (body->generation & 1) write_body(w, body);
  }
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_write_u32(w, world->body_order.items[i]);
  }
}

// Obstacles ---------------------------------------------------------------------------------------

static void write_obstacles(const yw_world* world, yw_writer* w) {
  yw_write_u32(w, (uint32_t)world->obstacles.count);
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    const yw_world_obstacle* o = &world->obstacles.items[i];
    yw_write_u32(w, o->generation);
    if (!(o->generation & 1)) continue;
    yw_write_bytes(w, o->name, sizeof o->name);
    yw_write_u64(w, o->shape_hash);
    write_transform(w, &o->transform);
    yw_setup_write_path(&o->path, w);
    write_floats(w, &o->friction, 1);
    write_floats(w, &o->restitution, 1);
    yw_write_u32(w, (uint32_t)(o->mesh != NULL) << 2 | (uint32_t)o->by_hand << 1 | o->sticky);
    yw_write_u32(w, o->groups);
    yw_write_u32(w, o->mask);
    write_transform(w, &o->hand_begin);
    write_transform(w, &o->hand_end);
    write_floats(w, &o->velocity.x, 3);
    write_floats(w, &o->spin.x, 3);
  }
}

static bool read_obstacle(yw_world* world, const stock* all, yw_reader* r, yw_world_obstacle* o,
                          yw_error* error) {
  void* user = o->user;
  yw_world_obstacle read = {0};
  yw_read_bytes(r, read.name, sizeof read.name);
  read.name[sizeof read.name - 1] = 0;
  read.shape_hash = yw_read_u64(r);
  read.transform = read_transform(r);
  yw_setup_read_path(&world->mem, r, &read.path);
  read_floats(r, &read.friction, 1);
  read_floats(r, &read.restitution, 1);
  uint32_t flags = yw_read_u32(r);
  read.by_hand = flags & 2;
  read.sticky = flags & 1;
  read.groups = yw_read_u32(r);
  read.mask = yw_read_u32(r);
  read.hand_begin = read_transform(r);
  read.hand_end = read_transform(r);
  read_floats(r, &read.velocity.x, 3);
  read_floats(r, &read.spin.x, 3);
  yw_shape* shape = flags & 4 ? NULL : find_shape(all, read.shape_hash);
  yw_animated_mesh* mesh = flags & 4 ? find_mesh(all, read.shape_hash) : NULL;
  if (r->failed || (!shape && !mesh)) {
    yw_path_free(&world->mem, &read.path);
    if (!r->failed) {
      yw_fail(
          error, YW_ERR_INVALID,
          "the shape of obstacle \"%s\" is not in this world any more: make worlds that go back "
          "with yw_world_def.rollback",
          read.name);
    }
    return false;
  }
  yw_world_obstacle_release(world, o);
  *o = read;
  if (shape) o->shape = yw_shape_retain(shape);
  if (mesh) ++mesh->more_uses;
  o->mesh = mesh;
  if (!yw_world_obstacle_add_surface(world, o)) return false;
  o->user = user;
  return true;
}

static bool read_obstacles(yw_world* world, const stock* all, yw_reader* r, yw_error* error) {
  int32_t slots = read_count(r, 4), more = slots - world->obstacles.count;
  if (r->failed || (more > 0 && !YW_LIST_RESERVE(&world->mem, &world->obstacles, more)) ||
      !YW_LIST_RESERVE(&world->mem, &world->obstacle_poses, slots)) {
    return false;
  }
  for (int32_t i = world->obstacles.count; i < slots; ++i) {
    world->obstacles.items[i] = (yw_world_obstacle){0};
  }
  for (int32_t i = slots; i < world->obstacles.count; ++i) {
    yw_world_obstacle_release(world, &world->obstacles.items[i]);
  }
  world->obstacles.count = slots;
  for (int32_t i = 0; i < slots; ++i) {
    yw_world_obstacle* o = &world->obstacles.items[i];
    uint32_t generation = yw_read_u32(r);
    if (generation & 1) {
      if (o->generation != generation) o->user = NULL;
      if (!read_obstacle(world, all, r, o, error)) return false;
    } else {
      yw_world_obstacle_release(world, o);
    }
    o->generation = generation;
  }
  return !r->failed;
}

// The whole ---------------------------------------------------------------------------------------

void yw_setup_write(const yw_world* world, yw_writer* w) {
  write_floats(w, &world->built_gravity.x, 3);
  write_floats(w, &world->wind.velocity.x, 3);
  write_floats(w, &world->wind.density, 1);
  write_floats(w, &world->wind.drag, 1);
  write_floats(w, &world->wind.turbulence, 1);
  write_floats(w, &world->wind.size, 1);
  yw_write_u32(w, world->wind.seed);
  write_floats(w, &world->sleep_speed, 1);
  write_bodies(world, w);
  write_obstacles(world, w);
  yw_setup_write_pins(world, w);
  yw_setup_write_joints(world, w);
  yw_write_u32(w, (uint32_t)world->pairs_apart.count);
  for (int32_t i = 0; i < world->pairs_apart.count; ++i) {
    yw_write_u64(w, world->pairs_apart.items[i]);
  }
  yw_tracks_write(world, w);
  yw_book_write(world->book, w);
}

static bool read_pairs(yw_world* world, yw_reader* r) {
  int32_t count = read_count(r, 8);
  world->pairs_apart.count = 0;
  if (!YW_LIST_RESERVE(&world->mem, &world->pairs_apart, count)) return false;
  for (int32_t i = 0; i < count; ++i) {
    uint64_t pair = yw_read_u64(r);
    uint32_t a = (uint32_t)(pair >> 32), b = (uint32_t)pair, slots = (uint32_t)world->bodies.count;
    if (a >= slots || b >= slots || !(world->bodies.items[a].generation & 1) ||
        !(world->bodies.items[b].generation & 1)) {
      return false;
    }
    world->pairs_apart.items[world->pairs_apart.count++] = pair;
  }
  return !r->failed;
}

bool yw_setup_read(yw_world* world, yw_reader* r, yw_error* error) {
  stock all = {0};
  bool ok = collect(world, &all);
  read_floats(r, &world->built_gravity.x, 3);
  world->gravity = world->built_gravity;
  read_floats(r, &world->wind.velocity.x, 3);
  read_floats(r, &world->wind.density, 1);
  read_floats(r, &world->wind.drag, 1);
  read_floats(r, &world->wind.turbulence, 1);
  read_floats(r, &world->wind.size, 1);
  world->wind.seed = yw_read_u32(r);
  read_floats(r, &world->sleep_speed, 1);
  world->wind_velocity = world->wind.velocity;
  ok = ok && read_bodies(world, &all, r, error) && read_obstacles(world, &all, r, error) &&
       yw_setup_read_pins(world, r) && yw_setup_read_joints(world, r) && read_pairs(world, r) &&
       yw_tracks_read(world, r) && yw_book_read(world->book, r);
  release(world, &all);
  ++world->changes;
  return ok && !r->failed;
}
