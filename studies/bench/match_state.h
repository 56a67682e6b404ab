// SPDX-License-Identifier: MIT
// Shared by match_bench.c and match_cost.c.
#ifndef YW_STUDIES_BENCH_MATCH_STATE_H
#define YW_STUDIES_BENCH_MATCH_STATE_H

#include "bench/match_bench.h"
#include "contact/obstacles.h"
#include "reference/match_reference.h"
#include "yawara/extend/method.h"
#include "yawara/match.h"

#define MATCH_BENCH_MAX_EXAMPLES 4

struct match_bench {
  bool same_state;  // see match_bench_def
  yw_tet_mesh mesh;
  yw_vec3* examples[MATCH_BENCH_MAX_EXAMPLES];
  yw_match_def def;
  void* model;
  void* state;
  yw_particles particles;
  yw_shape* floor;
  yw_obstacle obstacle;
  yw_obstacle_set set;
  yw_step_ctx ctx;
  yw_method_report report;
  reference_body* reference;

  // Start of every measurement: in the order of the mesh, and in the library's layout.
  yw_vec3 *start_pos, *start_vel;
  yw_vec4 *saved_pos, *saved_vel;
  unsigned char* saved_state;
  size_t saved_size;
};

#endif
