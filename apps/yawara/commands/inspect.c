// SPDX-License-Identifier: MIT
// yawara inspect: describes a mesh, scene, run or snapshot.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "commands/foresight.h"
#include "console/options.h"
#include "console/progress.h"
#include "console/scene_options.h"
#include "playback/run_folder.h"
#include "yawara/extend/text.h"
#include "yawara/extend/vec.h"
#include "yawara/fem.h"

// Beyond this number, bodies are only counted.
#define MAX_BODIES 20

static yw_aabb box_of(int32_t count, const yw_vec3* positions) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) box = yw_aabb_grow(box, positions[i]);
  return box;
}

static void print_box(yw_aabb box) {
  if (!(box.lower.x <= box.upper.x)) return;
  printf("  box       (%g, %g, %g) to (%g, %g, %g) m\n", (double)box.lower.x, (double)box.lower.y,
         (double)box.lower.z, (double)box.upper.x, (double)box.upper.y, (double)box.upper.z);
}

static int inspect_surface(const char* path) {
  yw_error error = {0};
  yw_tri_mesh mesh = {0};
  if (yw_tri_mesh_read(path, NULL, &mesh, &error) < 0) return bad_input("%s", error.message);
  printf("%s: triangle mesh\n  vertices  %d%s\n  triangles %d\n", path, mesh.num_vertices,
         mesh.colors ? " with colours" : "", mesh.num_triangles);
  print_box(box_of(mesh.num_vertices, mesh.positions));
  yw_tri_mesh_free(&mesh);
  return EXIT_DONE;
}

static void print_faults(const yw_tet_mesh* mesh) {
  yw_tet_faults faults;
  char text[1000];
  if (yw_tet_mesh_faults(mesh, &faults) < 0) return;
  if (yw_tet_faults_text(&faults, text, (int32_t)sizeof text) > 0) printf("  faults: %s\n", text);
}

static int inspect_tets(const char* path) {
  yw_error error = {0};
  yw_tet_mesh mesh = {0};
  if (yw_tet_mesh_read(path, NULL, &mesh, &error) < 0) return bad_input("%s", error.message);
  printf("%s: tet mesh\n  vertices  %d\n  tets      %d%s\n", path, mesh.num_vertices, mesh.num_tets,
         mesh.labels ? " with labels" : "");
  print_box(box_of(mesh.num_vertices, mesh.positions));
  yw_tet_quality q;
  if (mesh.num_tets > 0 && yw_tet_mesh_quality(&mesh, &q) >= 0) {
    printf("  volume    %.6g m^3 in %d part%s\n", q.volume, q.num_parts,
           q.num_parts == 1 ? "" : "s");
    printf("  dihedral  %.1f to %.1f degrees\n", (double)q.min_dihedral, (double)q.max_dihedral);
  }
  yw_error problem = {0};
  if (yw_tet_mesh_check(&mesh, &problem) < 0) {
    printf("  cannot be simulated: %s\n", problem.message);
  } else {
    printf("  can be simulated\n");
    print_faults(&mesh);
  }
  yw_tet_mesh_free(&mesh);
  return EXIT_DONE;
}

// Levels, their sizes and stiffness.
static void print_fem(const yw_fem_info* info) {
  printf("    level     tets    nodes   step us   Young's modulus Pa (smallest, mean, largest)\n");
  for (int32_t l = 0; l < info->num_levels; ++l) {
    const yw_fem_level* level = &info->levels[l];
    printf("    %5d %8d %8d %9.3g   %.4g, %.4g, %.4g", l, level->num_tets, level->num_nodes,
           1e6 * (double)level->time_step, (double)level->youngs_min, (double)level->youngs_mean,
           (double)level->youngs_max);
    if (level->num_linear > 0) printf("  (%d with linear faces)", level->num_linear);
    printf("\n");
  }
  if (info->moved_mass > 0.0f) {
    printf("    %.2g %% of the mass moved to small tets, for longer steps\n",
           100 * (double)info->moved_mass);
  }
  printf("    %s, about %.3g MB\n",
         !info->varies  ? "one material"
         : info->cached ? "coarse levels from the cache"
                        : "coarse levels sampled",
         info->bytes * 1e-6);
}

static void print_fit(const yw_scene* scene, int32_t body) {
  yw_tet_fit fit;
  if (!yw_scene_body_fit(scene, body, &fit)) return;
  double factor = yw_tet_fit_density(&fit);
  printf("    tets of size %.3g m with %.2f %% of the shape's volume", (double)fit.size,
         100 * fit.tet_volume / fit.shape_volume);
  if (factor != 1.0) {
    printf(", %.2f %% %s than the shape", 100 * fabs(factor - 1.0),
           factor > 1.0 ? "denser" : "less dense");
  }
  printf("\n");
}

// What the body feels of its examples, and what may disappoint.
static void print_poses(const yw_scene* scene, int32_t body) {
  yw_pose_report reports[YW_MAX_EXAMPLES];
  const char* names[YW_MAX_EXAMPLES] = {NULL};
  int32_t count = yw_scene_check_poses(scene, body, NULL, reports, names, YW_MAX_EXAMPLES, NULL);
  for (int32_t k = 0; k < count; ++k) {
    const yw_pose_report* r = &reports[k];
    char own[24], other[24], words[500];
    snprintf(own, sizeof own, "%d", k);
    snprintf(other, sizeof other, "%d", r->nearest);
    const char* nearest = r->nearest < 0      ? "the rest pose"
                          : names[r->nearest] ? names[r->nearest]
                                              : other;
    printf(
        "    example %s: stretched by %.1f %%, %.0f %% of its change is felt; nearest is %s, at "
        "%.2f of that\n",
        names[k] ? names[k] : own, 100 * (double)r->stretch, 100 * (double)r->seen, nearest,
        (double)r->distance);
    if (r->inverted_tets > 0) {
      printf("      %d tets and %d regions are inside out\n", r->inverted_tets,
             r->inverted_regions);
    }
    for (int32_t g = 0; r->num_groups > 1 && g < r->num_groups; ++g) {
      const yw_pose_group* group = &r->groups[g];
      printf("      group %d: %d regions, stretched by %.1f %%; %s is at %.2f of that\n",
             group->label, group->num_regions, 100 * (double)group->stretch, nearest,
             (double)group->distance);
    }
    if (yw_pose_words(r, names, words, (int32_t)sizeof words) != YW_POSE_FINE) {
      printf("      it %s\n", words);
    }
  }
}

// Mixtures of examples in which the body passes through itself, at quarters of the way.
static void print_mixtures(const yw_scene* scene, int32_t body) {
  enum { MOST = 8, STEPS = 4 };
  yw_pose_mixture found[MOST];
  int32_t count = yw_scene_check_mixtures(scene, body, STEPS, found, MOST, NULL);
  for (int32_t i = 0; i < count && i < MOST; ++i) {
    const yw_pose_mixture* m = &found[i];
    char from[24] = "the rest pose";
    if (m->from >= 0) snprintf(from, sizeof from, "example %d", m->from);
    printf(
        "    %.0f %% of the way from %s to example %d the body passes through itself: %d "
        "triangles cross others, near (%.3g, %.3g, %.3g)\n",
        100 * (double)m->share, from, m->to, m->crossing_triangles, (double)m->place.x,
        (double)m->place.y, (double)m->place.z);
  }
  if (count > MOST) printf("    ... and in %d more mixtures\n", count - MOST);
}

// What a run of the scene takes; its world moves on.
static void print_foresight(yw_world* world, const yw_scene_info* info) {
  run_cost cost = run_cost_of(world);
  printf("  a run takes %.0f MB of memory and about %.2g MB of disk (%d frames)",
         1e-6 * cost.memory_bytes, 1e-6 * cost.frame_bytes * (info->frames + 1), info->frames + 1);
  int32_t probed = 0;
  double seconds = probe_frames(world, info, &probed);
  if (seconds > 0.0) {
    char time[32] = "a second";
    if (seconds * info->frames > 1.0) {
      format_duration(seconds * info->frames, time, sizeof time);
    }
    printf(",\n  and about %s, %.3g ms a frame, by the first %d; contact may add to that", time,
           1e3 * seconds, probed);
  }
  printf("\n");
}

static int inspect_scene(const char* path, const scene_options* options) {
  yw_error error = {0}, warning = {0};
  yw_scene* scene = NULL;
  int code = scene_options_read(options, path, &scene, NULL, &warning, &error);
  if (code >= 0) return code;
  yw_world* world = NULL;
  if (yw_scene_build(scene, options->threads, scene_options_simd(options), &world, &error) < 0) {
    yw_scene_destroy(scene);
    return bad_input("%s", error.message);
  }
  yw_scene_info info = yw_scene_info_of(scene);
  printf("%s: scene \"%s\"\n", path, info.name);
  if (info.description[0]) printf("  %s\n", info.description);
  if (warning.message[0]) printf("  warning: %s\n", warning.message);
  printf("  %d frames at %g fps (%.2f s), %d substeps of %.4g ms\n", info.frames, (double)info.fps,
         info.frames / (double)info.fps, info.substeps, 1e3 / (double)info.fps / info.substeps);
  int32_t particles = 0, bodies = yw_world_num_bodies(world);
  for (int32_t i = 0; i < bodies; ++i) {
    yw_body_id id = yw_world_body(world, i);
    const yw_model* model = yw_body_model(world, id);
    int32_t count = yw_model_num_particles(model);
    yw_body_sums sums;
    yw_body_sums_of(world, id, &sums);
    particles += count;
    if (i < MAX_BODIES) {
      printf("  body %-16s %s, %d particles, %d surface triangles, %.4g kg\n",
             yw_body_name(world, id), yw_model_method(model), count,
             yw_model_surface(model)->num_triangles, sums.mass);
      print_fit(scene, i);
      print_poses(scene, i);
      print_mixtures(scene, i);
      yw_fem_info fem;
      if (yw_model_fem_info(model, &fem) == YW_OK) print_fem(&fem);
    }
  }
  if (bodies > MAX_BODIES) printf("  ... and %d more bodies\n", bodies - MAX_BODIES);
  printf("  %d bodies, %d particles, %d obstacles\n", bodies, particles,
         yw_scene_num_obstacles(scene));
  print_foresight(world, &info);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return EXIT_DONE;
}

static void print_run(const run_info* info) {
  for (int32_t i = 0; i < info->num_overrides; ++i) printf("  --set %s\n", info->overrides[i]);
  for (int32_t i = 1; i < info->num_files; ++i) {
    printf("  made of %s (%llu bytes)\n", info->files[i].path,
           (unsigned long long)info->files[i].bytes);
  }
  char time[32];
  format_duration(info->seconds, time, sizeof time);
  printf("  %d of %d frames at %g fps, %d substeps, made in %s\n  state %016llx\n",
         info->frames_done, info->frames, (double)info->fps, info->substeps, time,
         (unsigned long long)info->state_hash);
  if (info->fields[0]) printf("  fields: %s\n", info->fields);
  for (int32_t i = 0; i < info->num_faults; ++i) {
    const run_fault* fault = &info->faults[i];
    printf("  frame %d (t = %.3f s): body \"%s\"%s diverged\n", fault->frame, fault->time,
           fault->body, fault->bodies > 1 ? " and others" : "");
  }
}

static void print_frame(const shown_scene* shown, const frame_data* frame) {
  int32_t particles = 0, active = 0;
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    const frame_body* body = &frame->bodies[i];
    const shown_model* model = shown_model_of(shown, i);
    if (i < MAX_BODIES) {
      printf("  body %-16s %s, %d particles, %d surface triangles, %.4g kg%s\n",
             shown->bodies[i].name, model->method, body->num_particles,
             model->surface.num_triangles, shown->bodies[i].mass,
             body->active ? "" : ", waits for its start");
    }
    if (!body->active) continue;
    ++active;
    particles += body->num_particles;
    box = yw_aabb_join(box, box_of(body->num_particles, body->positions));
  }
  if (frame->num_bodies > MAX_BODIES) {
    printf("  ... and %d more bodies\n", frame->num_bodies - MAX_BODIES);
  }
  printf("  last frame: t = %.4f s, %d bodies, %d particles, %d obstacles\n", frame->time, active,
         particles, frame->num_obstacles);
  print_box(box);
}

static int inspect_run(const char* dir) {
  yw_error error = {0};
  run_folder run;
  if (run_folder_open(dir, &run, &error) < 0) return bad_input("%s", error.message);
  frame_data frame;
  int code = EXIT_DONE;
  if (run_folder_read_frame(&run, run.info.frames_done, &frame, &error) < 0) {
    code = bad_input("%s", error.message);
  } else {
    printf("%s: run of %s\n", dir, run.info.scene);
    print_run(&run.info);
    print_frame(run.shown, &frame);
    frame_free(&frame);
  }
  run_folder_close(&run);
  return code;
}

static int inspect_snapshot(const char* path) {
  yw_error error = {0};
  snapshot_info info;
  if (snapshot_info_read(path, &info, &error) < 0) return bad_input("%s", error.message);
  printf("%s: snapshot after frame %d, t = %.4f s, %llu steps, %zu bytes\n", path, info.frame,
         info.time, (unsigned long long)info.steps, info.bytes);
  return EXIT_DONE;
}

int cmd_inspect(int argc, char** argv) {
  scene_options scene = {0};
  const option options[] = {SCENE_OPTIONS(&scene)};
  const command self = {.name = "inspect",
                        .summary = "what is in a mesh, scene, run or snapshot",
                        .usage = "inspect FILE|DIR",
                        .examples =
                            "  yawara inspect scenes/gallery/teddy.json\n"
                            "  yawara inspect out/teddy\n"
                            "  yawara inspect bunny.obj\n",
                        .options = options,
                        .num_options = sizeof options / sizeof options[0],
                        .min_arguments = 1,
                        .max_arguments = 1};
  const char* path;
  int32_t count;
  int code = parse_options(&self, argc, argv, &path, &count);
  if (code >= 0) return code;
  struct stat what;
  if (stat(path, &what) != 0) return bad_input("%s: there is no such file or folder", path);
  if (S_ISDIR(what.st_mode)) return inspect_run(path);
  if (yw_ends_with(path, ".json")) return inspect_scene(path, &scene);
  if (yw_ends_with(path, ".yws")) return inspect_snapshot(path);
  const char* surfaces[] = {".obj", ".ply", ".stl", ".gltf", ".glb"};
  for (size_t i = 0; i < sizeof surfaces / sizeof surfaces[0]; ++i) {
    if (yw_ends_with(path, surfaces[i])) return inspect_surface(path);
  }
  return inspect_tets(path);
}
