// SPDX-License-Identifier: MIT
// Courses of fem bodies: a single body of a scene, timed by the CPU clock of its thread.
#ifndef YW_STUDIES_PAPERS_IMAI_COURSE_H
#define YW_STUDIES_PAPERS_IMAI_COURSE_H

#include "papers/paper.h"

#define PAPER_FEM_FRAMES 400
#define PAPER_FEM_CHANGES 8

/// What to run.
typedef struct fem_case {
  const char* scene;   ///< file under papers/
  int32_t num_bodies;  ///< in the scene
  int32_t body;        ///< the one that runs; others never start
  int32_t frames;      ///< at most PAPER_FEM_FRAMES; 0: all frames of the scene
  yw_vec3 point;       ///< of the rest pose, tracked
  double radius;       ///< vertices this close count as the point, m
  int32_t num_changes;
  yw_scene_override changes[PAPER_FEM_CHANGES];  ///< to the scene
} fem_case;

/// Recorded course; entry 0 is the start.
typedef struct fem_course {
  int32_t frames;
  int32_t all_tets;                     ///< of the finest level
  double time[PAPER_FEM_FRAMES + 1];    ///< s
  yw_vec3 place[PAPER_FEM_FRAMES + 1];  ///< of the point
  double tets[PAPER_FEM_FRAMES + 1];    ///< in use
  double steps[PAPER_FEM_FRAMES + 1];   ///< inner steps so far
  double cpu[PAPER_FEM_FRAMES + 1];     ///< s so far
  double drift[3];                      ///< m/s, momentum / mass at the end
} fem_course;

yw_status paper_fem_run(const paper_options* options, const fem_case* c, fem_course* out,
                        yw_error* error);

/// Comparison of a course with the same case on the finest mesh.
typedef struct fem_comparison {
  double way;         ///< m, largest displacement of the point on the finest mesh
  double error;       ///< m, largest distance between the two
  double last_error;  ///< m, at the end
  double tets;        ///< mean fraction of the finest mesh
  double faster;      ///< time of the finest mesh divided by that of the other
} fem_comparison;
fem_comparison paper_fem_compare(const fem_course* course, const fem_course* finest);

/// Inner steps per second of computation around a frame, averaged over `span` frames on both sides.
double paper_fem_rate(const fem_course* course, int32_t frame, int32_t span);

#endif
