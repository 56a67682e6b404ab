// SPDX-License-Identifier: MIT
// What a snapshot holds of a plastic body: everything that a step does not compute again.
#include <math.h>
#include <string.h>

#include "methods/plastic/offload.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/plastic.h"
#include "methods/plastic/ranks.h"
#include "methods/plastic/slave_steps.h"

void yw_plastic_save_numbers(const plastic_body* body, yw_writer* writer, int64_t num_slaves,
                             int64_t num_pairs) {
  const float params[] = {body->params.time_step, body->params.tolerance, body->params.sleep_speed,
                          body->params.stiffness_scale};
  yw_write_f32(writer, params, 4);
  yw_write_u32(writer, (uint32_t)body->params.max_iterations);
  const uint32_t flags =
      (body->is_moved ? 1u : 0u) | (body->lost_skin ? 2u : 0u) | (body->was_pushed ? 4u : 0u);
  const uint32_t numbers[] = {(uint32_t)body->num_all,
                              (uint32_t)num_slaves,
                              (uint32_t)body->num_started,
                              body->lists_are_old ? 0 : (uint32_t)num_pairs,
                              (uint32_t)body->num_measured,
                              body->is_placed,
                              flags,
                              body->lists_are_old};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) yw_write_u32(writer, numbers[i]);
  yw_write_f32(writer, &body->turn.x, 4);
  yw_write_f32(writer, &body->shift.x, 3);
  const float drift[] = {body->drift, body->pace, body->skin};
  yw_write_f32(writer, drift, 3);
  if (!plastic_is_far(body)) yw_write_f32(writer, &body->grip.force, 2);
}

void yw_plastic_save(const void* state, yw_writer* writer) {
  const plastic_body* body = state;
  yw_plastic_bring_rest(body);
  if (body->ranks) {
    yw_plastic_save_shared(body, writer);
    return;
  }
  yw_plastic_save_numbers(body, writer, body->num_slaves, body->num_pairs);
  yw_write_f32(writer, body->state[0].u[0], yw_plastic_state_floats(body));
  yw_write_f32(writer, &body->last_pos[0].x, 4 * (size_t)body->num_masters);
  yw_write_f32(writer, &body->last_vel[0].x, 4 * (size_t)body->num_masters);
  yw_write_f32(writer, &body->slave_pos[0].x, 4 * (size_t)body->num_slaves);
  yw_write_bytes(writer, body->is_linked, (size_t)body->model->num_links);
  yw_plastic_sleep_save(body, writer);
  // Sums run in the order of the lists.
  if (body->lists_are_old) return;
  for (int32_t m = 0; m <= body->num_masters; ++m) {
    yw_write_u32(writer, (uint32_t)body->row_start[m]);
  }
  for (int32_t e = 0; e < body->num_pairs; ++e) yw_write_u32(writer, (uint32_t)body->column[e]);
}

static bool load_lists(plastic_body* body, yw_reader* reader, int32_t num_pairs) {
  size_t left = reader->size - reader->offset;
  if (num_pairs < 0 || (size_t)num_pairs > left / 4) return false;
  if (!yw_plastic_reserve_pairs(body, num_pairs)) return false;
  for (int32_t m = 0; m <= body->num_masters; ++m) {
    int32_t start = (int32_t)yw_read_u32(reader);
    int32_t least = m > 0 ? body->row_start[m - 1] : 0;
    if (start < least || start - least > PLASTIC_MAX_ROW || start > num_pairs) return false;
    body->row_start[m] = start;
  }
  if (body->row_start[0] != 0 || body->row_start[body->num_masters] != num_pairs) return false;
  for (int32_t e = 0; e < num_pairs; ++e) {
    int32_t s = (int32_t)yw_read_u32(reader);
    if (s < 0 || s >= body->num_slaves) return false;
    body->column[e] = s;
  }
  body->num_pairs = num_pairs;
  const yw_step_ctx alone = {0};
  return !reader->failed && yw_plastic_list_parts(body, &alone);
}

static bool load_params(plastic_body* body, yw_reader* reader) {
  float numbers[4];
  yw_read_f32(reader, numbers, 4);
  yw_plastic_params params = {.time_step = numbers[0],
                              .tolerance = numbers[1],
                              .max_iterations = (int32_t)yw_read_u32(reader),
                              .sleep_speed = numbers[2],
                              .stiffness_scale = numbers[3]};
  if (reader->failed || yw_plastic_params_check(&params, NULL) < 0) return false;
  yw_plastic_take_params(body, &params);
  return true;
}

// Numbers [first, first + count) of the `all` that come next.
static void read_some(yw_reader* reader, float* out, size_t first, size_t count, size_t all) {
  if (all > (reader->size - reader->offset) / sizeof *out) reader->failed = true;
  if (reader->failed) return;
  yw_reader some = *reader;
  some.offset += first * sizeof *out;
  yw_read_f32(&some, out, count);
  reader->offset += all * sizeof *out;
}

// What every master has, and where it was.
static bool load_masters(plastic_body* body, yw_reader* reader) {
  size_t block = sizeof(plastic_state_block) / sizeof(float), first = (size_t)body->first_master;
  size_t blocks = (size_t)yw_plastic_chunks(body->num_all, YW_LANES);
  size_t here = (size_t)body->num_masters, all = (size_t)body->num_all;
  yw_plastic_reset_state(body);
  read_some(reader, body->state[0].u[0], block * (first / YW_LANES), yw_plastic_state_floats(body),
            block * blocks);
  read_some(reader, &body->last_pos[0].x, 4 * first, 4 * here, 4 * all);
  read_some(reader, &body->last_vel[0].x, 4 * first, 4 * here, 4 * all);
  return !reader->failed &&
         yw_plastic_all_finite(body->state[0].u[0], yw_plastic_state_floats(body));
}

static bool load_numbers(plastic_body* body, yw_reader* reader, uint32_t numbers[8]) {
  const plastic_model* model = body->model;
  for (int i = 0; i < 8; ++i) numbers[i] = yw_read_u32(reader);
  size_t left = reader->size - reader->offset;
  if (reader->failed || numbers[0] > (uint32_t)model->num_masters || numbers[1] > left / 16 ||
      numbers[2] > (uint32_t)model->num_parts) {
    return false;
  }
  int32_t masters = 0;
  for (uint32_t i = 0; i < numbers[2]; ++i) masters += model->parts[i].count;
  if ((uint32_t)masters != numbers[0]) return false;
  if (masters != body->num_all) ++body->version;
  body->num_all = body->num_masters = masters;
  if (body->ranks) {
    body->num_masters = yw_plastic_masters_of_rank(body, body->ranks->comm->rank);
  }
  body->num_started = (int32_t)numbers[2];
  body->num_listed = 0;
  body->num_measured = (int32_t)numbers[4];
  body->is_placed = numbers[5] != 0;
  body->is_moved = numbers[6] & 1u;
  body->lost_skin = numbers[6] & 2u;
  body->was_pushed = numbers[6] & 4u;
  body->lists_are_old = numbers[7] != 0;
  yw_read_f32(reader, &body->turn.x, 4);
  yw_read_f32(reader, &body->shift.x, 3);
  float drift[3];
  yw_read_f32(reader, drift, 3);
  body->drift = drift[0], body->pace = drift[1], body->skin = drift[2];
  if (!plastic_is_far(body)) {
    float grip[2];
    yw_read_f32(reader, grip, 2);
    if (!(grip[0] >= 0.0f && grip[0] < INFINITY && grip[1] >= 0.0f)) return false;
    body->grip = (plastic_grip){.force = grip[0], .time = grip[1]};
  }
  return !reader->failed;
}

static bool load_state(plastic_body* body, yw_reader* reader) {
  uint32_t numbers[8];
  if (!load_params(body, reader) || !load_numbers(body, reader, numbers) ||
      !load_masters(body, reader)) {
    return false;
  }
  int32_t slaves = (int32_t)numbers[1], pairs = (int32_t)numbers[3];
  if (body->ranks) return yw_plastic_load_shared(body, reader, slaves, pairs);
  // More memory makes lists old; those of the snapshot are not.
  bool are_old = body->lists_are_old;
  if (!yw_plastic_reserve_slaves(body, slaves)) return false;
  body->lists_are_old = are_old;
  body->num_slaves = slaves;
  yw_read_f32(reader, &body->slave_pos[0].x, 4 * (size_t)slaves);
  yw_read_bytes(reader, body->is_linked, (size_t)body->model->num_links);
  if (reader->failed || !yw_plastic_all_finite(&body->slave_pos[0].x, 4 * (size_t)slaves) ||
      !yw_plastic_sleep_load(body, reader)) {
    return false;
  }
  return body->lists_are_old || load_lists(body, reader, pairs);
}

void yw_plastic_load(void* state, yw_reader* reader) {
  plastic_body* body = state;
  yw_plastic_resend(body);
  if (load_state(body, reader)) {
    yw_plastic_show_skin(body);
    return;
  }
  reader->failed = true;
  yw_plastic_forget_sleep(body);
  body->is_moved = body->lists_are_old = true;
  body->num_listed = 0;
}
