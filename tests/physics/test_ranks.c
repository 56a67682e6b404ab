// SPDX-License-Identifier: MIT
// Plastic bodies on several ranks: the same bits as on one. Ranks are threads here; the program has
// the same over MPI (tests/cli/test_ranks.sh).
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/testing.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/ranks.h"
#include "yawara/extend/shared_body.h"
#include "yawara/yawara.h"

enum { MOST_RANKS = 8, FRAMES = 2, MOST_FRAMES = 4, MOST_SHOWN = 100000 };

// A bar that falls on an edge: it bends, is torn, and lands on the floor.
static const char torn[] =
    "{\"gravity\": [0, -9.81, 0], \"substeps\": 4, \"floor\": true,"
    " \"obstacles\": [{\"shape\": {\"box\": {\"size\": [0.04, 0.2, 1]}}, \"position\": [0, 0.1, "
    "0]}],"
    " \"bodies\": [{\"name\": \"bar\", \"shape\": {\"box\": {\"size\": [0.8, 0.12, 0.16]}},"
    "   \"position\": [0.03, 0.29, 0], \"velocity\": [0, -6, 0], \"density\": 400,"
    "   \"plastic\": {\"spacing\": 0.02, \"youngs_modulus\": 2e5, \"flow\": \"box\", \"theta_c\": "
    "0.02,"
    "     \"theta_s\": 0.004, \"xi\": 5, \"sleep_speed\": 0}}]}";

// Two lumps that hit each other and merge.
static const char merged[] =
    "{\"gravity\": [0, 0, 0], \"substeps\": 2,"
    " \"bodies\": [{\"name\": \"a\", \"shape\": {\"sphere\": {\"radius\": 0.15}}, \"merge\": "
    "\"lump\","
    "   \"position\": [-0.17, 0.02, 0], \"velocity\": [4, 0, 0],"
    "   \"plastic\": {\"spacing\": 0.025, \"youngs_modulus\": 1e5, \"sleep_speed\": 0}},"
    "  {\"name\": \"b\", \"shape\": {\"sphere\": {\"radius\": 0.17}}, \"merge\": \"lump\","
    "   \"position\": [0.18, 0, 0.03], \"velocity\": [-4, 0, 0],"
    "   \"plastic\": {\"spacing\": 0.025, \"youngs_modulus\": 1e5, \"sleep_speed\": 0}}]}";

// A bar whose ends are pulled apart, and its middle up by springs.
static const char pulled[] =
    "{\"gravity\": [0, -9.81, 0], \"substeps\": 2,"
    " \"bodies\": [{\"name\": \"bar\", \"shape\": {\"box\": {\"size\": [0.8, 0.12, 0.16]}},"
    "   \"plastic\": {\"spacing\": 0.02, \"youngs_modulus\": 2e5, \"flow\": \"box\", \"theta_c\": "
    "0.02,"
    "     \"theta_s\": 0.004, \"sleep_speed\": 0},"
    "   \"pins\": [{\"select\": {\"plane\": {\"normal\": [1, 0, 0], \"point\": [-0.37, 0, 0]}},"
    "       \"path\": {\"keys\": [{\"time\": 0}, {\"time\": 0.1, \"offset\": [-0.2, 0, 0]}]}},"
    "     {\"select\": {\"plane\": {\"normal\": [-1, 0, 0], \"point\": [0.37, 0, 0]}},"
    "       \"path\": {\"keys\": [{\"time\": 0}, {\"time\": 0.1, \"offset\": [0.2, 0.05, 0]}]}},"
    "     {\"select\": {\"box\": {\"size\": [0.1, 1, 1]}},"
    "       \"spring\": {\"stiffness\": 20}}]}]}";

// Bodies of all methods on a lump of clay, one in front of the other, and one that is held.
static const char pile[] =
    "{\"gravity\": [0, -9.81, 0], \"substeps\": 2, \"floor\": true,"
    " \"bodies\": [{\"name\": \"clay\", \"shape\": {\"box\": {\"size\": [0.4, 0.1, 0.16]}},"
    "   \"position\": [0, 0.06, 0], \"self_contact\": true,"
    "   \"plastic\": {\"spacing\": 0.02, \"youngs_modulus\": 2e5, \"sleep_speed\": 0}},"
    "  {\"name\": \"more\", \"shape\": {\"box\": {\"size\": [0.1, 0.1, 0.1]}},"
    "   \"position\": [-0.12, 0.165, 0], \"velocity\": [0, -2, 0],"
    "   \"plastic\": {\"spacing\": 0.0166, \"youngs_modulus\": 2e5, \"sleep_speed\": 0}},"
    "  {\"name\": \"jelly\", \"mesh\": {\"lattice\": {\"size\": 0.08, \"cells\": 3}},"
    "   \"position\": [0, 0.16, 0], \"velocity\": [0, -2, 0], \"match\": {}},"
    "  {\"name\": \"few\", \"mesh\": {\"lattice\": {\"size\": 0.08, \"cells\": 3}},"
    "   \"position\": [0.1, 0.16, 0], \"velocity\": [0, -2, 0], \"frames\": {}},"
    "  {\"name\": \"stiff\", \"mesh\": {\"lattice\": {\"size\": 0.06, \"cells\": 1}},"
    "   \"position\": [0.17, 0.16, 0.05], \"velocity\": [0, -2, 0], \"fem\": {\"max_level\": 1}},"
    "  {\"name\": \"stone\", \"shape\": {\"box\": {\"size\": 0.04}},"
    "   \"position\": [0.17, 0.16, -0.05], \"velocity\": [0, -2, 0], \"rigid\": {}}]}";

typedef struct rank_job {
  const char* text;
  const yw_ranks* ranks;  // NULL: alone
  int32_t frames;
  const void* start;  // snapshot to go on from
  size_t start_size;
  bool keep;  // a snapshot at the end
  uint64_t hash[MOST_FRAMES + 1];
  bool unequal;    // rank 0 says that it takes thrice as long as others
  uint64_t moved;  // chunks
  yw_plastic_statistics statistics;
  double energy, spin;
  void* kept;
  size_t kept_size;
  float* shown;  // of the first body at the end, if it is not NULL: what a frame has of it
  size_t num_shown;
  int32_t parted;
  yw_status status;
  yw_error error;
} rank_job;

// Work by a false clock: every look at it is a substep's begin or end.
static _Thread_local double false_seconds, false_pace;

static double false_clock(void* context) {
  (void)context;
  return false_seconds += false_pace;
}

// What all ranks write into a file, from a place on, is what one keeps in memory.
static void check_file(const rank_job* job, const yw_world* world) {
  char path[] = "/tmp/test_ranks_XXXXXX";
  const uint64_t offset = 16;
  int file = mkstemp(path);
  uint64_t size = 0;
  yw_error error = {0};
  if (yw_world_save_file(world, path, offset, &size, &error) < 0) fail_msg("%s", error.message);
  assert_int_equal(size, job->kept_size);
  char* bytes = malloc(job->kept_size);
  assert_int_equal(pread(file, bytes, job->kept_size, (off_t)offset), job->kept_size);
  assert_memory_equal(bytes, job->kept, job->kept_size);
  free(bytes);
  close(file);
  unlink(path);
}

static void measure(rank_job* job, yw_world* world) {
  yw_body_id body = yw_world_body(world, 0);
  yw_body_energy energy;
  yw_body_plastic_statistics(world, body, &job->statistics);
  yw_body_energy_of(world, body, &energy);
  job->energy = energy.elastic;
  yw_body_sums sums;
  yw_body_sums_of(world, body, &sums);
  job->spin = sums.angular_momentum[0];
  if (!job->keep) return;
  size_t room = yw_world_snapshot_size(world);
  job->kept = malloc(room);
  job->status = yw_world_save(world, job->kept, room, &job->kept_size);
  if (job->status >= 0) check_file(job, world);
}

// Positions, vertices of the surface, radii, then how far particles have parted. Ranks write them
// in another order than that of the file.
static void show(rank_job* job, yw_world* world) {
  yw_body_id body = yw_world_body(world, 0);
  int32_t count = 0, vertices = yw_model_surface(yw_body_model(world, body))->num_vertices;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  size_t n = (size_t)count, at[4] = {0, 3 * n, 3 * n + 3 * (size_t)vertices, 0};
  at[3] = at[2] + n;
  job->num_shown = at[3] + n;
  assert_true(vertices > 0 && job->num_shown < MOST_SHOWN);
  if (!job->ranks) {
    memcpy(job->shown, x, n * sizeof *x);
    yw_body_surface_positions(world, body, (yw_vec3*)(void*)(job->shown + at[1]), vertices);
    memcpy(job->shown + at[2], yw_body_radii(world, body, NULL), n * sizeof(float));
    job->parted = yw_body_parted(world, body, job->shown + at[3], count);
    return;
  }
  assert_int_equal(yw_body_shared_particles(world, body), count);
  char path[] = "/tmp/test_ranks_XXXXXX";
  int file = mkstemp(path);
  const yw_shown_place places[] = {{YW_SHOWN_PARTED, 4 * at[3]},
                                   {YW_SHOWN_SURFACE, 4 * at[1]},
                                   {YW_SHOWN_POSITIONS, 0},
                                   {YW_SHOWN_RADII, 4 * at[2]}};
  job->status = yw_body_write_shown(world, body, 4, places, path, &job->parted, &job->error);
  ssize_t bytes = read(file, job->shown, MOST_SHOWN * sizeof(float));
  assert_int_equal(bytes, 4 * (job->parted > 0 ? job->num_shown : at[3]));
  close(file);
  unlink(path);
  // Whoever cannot write says so, and the others go on.
  yw_error error = {0};
  assert_int_equal(yw_body_write_shown(world, body, 4, places, path, NULL, &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "cannot be written"));
}

static void lead(rank_job* job, yw_world* world) {
  if (job->start) job->status = yw_world_load(world, job->start, job->start_size, &job->error);
  job->hash[0] = yw_world_hash(world);
  for (int32_t i = 0; job->status >= 0 && i < job->frames; ++i) {
    job->status = yw_world_step(world, 1.0f / 60.0f, 4, NULL);
    job->hash[i + 1] = yw_world_hash(world);
  }
  measure(job, world);
  if (job->shown) show(job, world);
}

static void* run_rank(void* context) {
  rank_job* job = context;
  if (job->unequal) false_pace = job->ranks->rank == 0 ? 3.0 : 1.0;
  yw_scene_def def = yw_default_scene_def();
  def.path = "test.json";
  def.text = job->text;
  def.size = strlen(job->text);
  def.threads = 1;
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  job->status = yw_scene_read(&def, &scene, NULL, &job->error);
  if (job->status < 0) return NULL;
  yw_scene_set_ranks(scene, job->ranks);
  job->status = yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &job->error);
  if (job->status >= 0) {
    if (job->ranks && job->ranks->rank > 0) {
      job->status = yw_world_follow(world);
    } else {
      lead(job, world);
    }
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return NULL;
}

// Runs `count` ranks; the result is that of rank 0.
static rank_job run_ranks(const rank_job* like, int32_t count) {
  rank_job jobs[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  yw_ranks* ranks = yw_ranks_create_local(count);
  assert_non_null(ranks);
  for (int32_t r = 0; r < count; ++r) {
    jobs[r] = *like;
    if (like->unequal) ranks[r].worked = false_clock;
    jobs[r].ranks = &ranks[r];
    assert_int_equal(pthread_create(&threads[r], NULL, run_rank, &jobs[r]), 0);
  }
  for (int32_t r = 0; r < count; ++r) pthread_join(threads[r], NULL);
  jobs[0].moved = ranks[0].traffic->moved;
  yw_ranks_destroy_local(ranks);
  return jobs[0];
}

static rank_job run_alone(const rank_job* like) {
  rank_job job = *like;
  run_rank(&job);
  if (job.status < 0) print_error("%s\n", job.error.message);
  assert_true(job.status >= 0);
  return job;
}

static void same_on_counts(const char* text, bool splits, int num_counts, const int32_t* counts) {
  rank_job like = {.text = text, .frames = FRAMES};
  rank_job alone = run_alone(&like);
  print_message("%d masters, %d slaves, %lld added, %lld removed, energy %g J\n",
                alone.statistics.num_masters, alone.statistics.num_slaves,
                (long long)alone.statistics.added, (long long)alone.statistics.removed,
                alone.energy);
  if (splits) assert_true(alone.statistics.added > 10);
  for (int i = 0; i < num_counts; ++i) {
    rank_job job = run_ranks(&like, counts[i]);
    if (job.status < 0) print_error("%d ranks: %s\n", counts[i], job.error.message);
    assert_true(job.status >= 0);
    for (int k = 0; k <= FRAMES; ++k) {
      if (job.hash[k] == alone.hash[k]) continue;
      fail_msg("%d ranks: frame %d has hash %016llx instead of %016llx", counts[i], k,
               (unsigned long long)job.hash[k], (unsigned long long)alone.hash[k]);
    }
    assert_int_equal(job.statistics.num_slaves, alone.statistics.num_slaves);
    assert_int_equal(job.statistics.added, alone.statistics.added);
    assert_int_equal(job.statistics.removed, alone.statistics.removed);
    assert_true(job.energy == alone.energy && job.spin == alone.spin);
  }
}

static void a_torn_bar_has_the_same_bits_on_any_number_of_ranks(void** state) {
  (void)state;
  same_on_counts(torn, true, 5, (const int32_t[]){1, 2, 3, 4, 8});
}

static void merging_lumps_have_the_same_bits_on_any_number_of_ranks(void** state) {
  (void)state;
  same_on_counts(merged, false, 2, (const int32_t[]){3, 8});
}

static void pins_and_springs_have_the_same_bits_on_any_number_of_ranks(void** state) {
  (void)state;
  same_on_counts(pulled, false, 2, (const int32_t[]){2, 5});
}

static void other_bodies_have_the_same_bits_on_any_number_of_ranks(void** state) {
  (void)state;
  same_on_counts(pile, false, 2, (const int32_t[]){2, 3});
}

// Ranks that take longer hand chunks on; the result does not depend on it.
static void unequal_work_moves_chunks_but_no_bits(void** state) {
  (void)state;
  rank_job like = {.text = torn, .frames = MOST_FRAMES, .keep = true};
  rank_job alone = run_alone(&like);
  like.unequal = true;
  rank_job job = run_ranks(&like, 3);
  print_message("%llu of 8 chunks moved\n", (unsigned long long)job.moved);
  assert_true(job.status >= 0);
  assert_true(job.moved > 0);
  for (int k = 0; k <= MOST_FRAMES; ++k) assert_true(job.hash[k] == alone.hash[k]);
  assert_int_equal(job.kept_size, alone.kept_size);
  assert_memory_equal(job.kept, alone.kept, alone.kept_size);
  free(job.kept);
  free(alone.kept);
}

// A snapshot of any number of ranks is that of one, and any number goes on from it.
static void snapshots_go_from_any_number_of_ranks_to_any_other(void** state) {
  (void)state;
  rank_job whole = run_alone(&(rank_job){.text = torn, .frames = 2});
  rank_job first = run_alone(&(rank_job){.text = torn, .frames = 1, .keep = true});
  rank_job three = run_ranks(&(rank_job){.text = torn, .frames = 1, .keep = true}, 3);
  assert_int_equal(three.kept_size, first.kept_size);
  assert_memory_equal(three.kept, first.kept, first.kept_size);
  static const int32_t counts[] = {1, 5};
  for (int i = 0; i < 2; ++i) {
    rank_job rest = {.text = torn, .frames = 1, .start = three.kept, .start_size = three.kept_size};
    rest = run_ranks(&rest, counts[i]);
    assert_true(rest.status >= 0);
    assert_true(rest.hash[0] == first.hash[1]);
    assert_true(rest.hash[1] == whole.hash[2]);
  }
  free(first.kept);
  free(three.kept);
}

// What all ranks write of a frame is what one rank shows, before matter parts and after.
static void same_shown(const char* text, int32_t frames, bool parts, int32_t count) {
  rank_job like = {.text = text, .frames = frames};
  like.shown = calloc(MOST_SHOWN, sizeof(float));
  rank_job alone = run_alone(&like);
  like.shown = calloc(MOST_SHOWN, sizeof(float));
  rank_job job = run_ranks(&like, count);
  print_message("%d of the particles have parted\n", alone.parted);
  if (job.status < 0) print_error("%s\n", job.error.message);
  assert_true(job.status >= 0);
  assert_int_equal(alone.parted > 0, parts);
  assert_int_equal(job.parted, alone.parted);
  assert_int_equal(job.num_shown, alone.num_shown);
  assert_memory_equal(job.shown, alone.shown, alone.num_shown * sizeof(float));
  free(alone.shown);
  free(job.shown);
}

static void what_ranks_write_of_a_frame_is_what_one_shows(void** state) {
  (void)state;
  same_shown(torn, 0, false, 3);
  same_shown(torn, FRAMES, true, 2);
  same_shown(torn, FRAMES, true, 5);
  same_shown(merged, FRAMES, true, 3);
}

static void refused(const char* text, int32_t count, const char* words) {
  rank_job job = run_ranks(&(rank_job){.text = text, .frames = 1}, count);
  assert_true(job.status < 0);
  if (!strstr(job.error.message, words)) fail_msg("\"%s\" lacks \"%s\"", job.error.message, words);
}

static void what_ranks_cannot_do_gets_clear_words(void** state) {
  (void)state;
  static const char small[] =
      "{\"bodies\": [{\"shape\": {\"box\": {\"size\": 0.2}},"
      " \"plastic\": {\"spacing\": 0.02, \"sleep_speed\": 0}}]}";
  static const char sleeps[] =
      "{\"bodies\": [{\"shape\": {\"box\": {\"size\": 0.2}}, \"plastic\": {\"spacing\": 0.02}}]}";
  static const char sheet[] =
      "{\"bodies\": [{\"shape\": {\"box\": {\"size\": [0.8, 0.01, 0.8]}},"
      " \"plastic\": {\"spacing\": 0.02, \"sheet\": true, \"sleep_speed\": 0}}]}";
  static const char softens[] =
      "{\"bodies\": [{\"shape\": {\"box\": {\"size\": [0.8, 0.01, 0.8]}},"
      " \"plastic\": {\"spacing\": 0.02, \"sheet\": true, \"theta_s\": 0.004, \"xi\": 5,"
      " \"sleep_speed\": 0}}]}";
  refused(sheet, 2, "a sheet of single masters that is elastic or softens");
  refused(softens, 2, "a sheet of single masters that is elastic or softens");
  refused(small, 8, "8 ranks are too many for 1000 masters");
  refused(sleeps, 2, "sleep_speed");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_torn_bar_has_the_same_bits_on_any_number_of_ranks),
      cmocka_unit_test(merging_lumps_have_the_same_bits_on_any_number_of_ranks),
      cmocka_unit_test(pins_and_springs_have_the_same_bits_on_any_number_of_ranks),
      cmocka_unit_test(other_bodies_have_the_same_bits_on_any_number_of_ranks),
      cmocka_unit_test(unequal_work_moves_chunks_but_no_bits),
      cmocka_unit_test(snapshots_go_from_any_number_of_ranks_to_any_other),
      cmocka_unit_test(what_ranks_write_of_a_frame_is_what_one_shows),
      cmocka_unit_test(what_ranks_cannot_do_gets_clear_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
