// SPDX-License-Identifier: MIT
// Tracks: values over time, what they act on, snapshots, mistakes.
#include "support/method_world.h"
#include "support/scene_text.h"
#include "world/wind.h"
#include "yawara/yawara.h"

#define BOX "\"mesh\": {\"lattice\": {\"size\": 1, \"cells\": 2}}"
#define KEY(t, v) "{\"time\": " #t ", \"value\": " #v "}"

static yw_track_key at(double time, float value) { return (yw_track_key){time, {value, 0, 0}}; }

static void refuse(yw_world* world, const yw_track_def* def, const char* words) {
  yw_error error = {0};
  yw_track_id id;
  uint64_t before = yw_world_hash(world);
  assert_int_equal(yw_track_create(world, def, &id, &error), YW_ERR_INVALID);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
  assert_true(yw_world_hash(world) == before);
}

static void refuse_scene(const char* text, const char* words) {
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  yw_error error = {0};
  yw_status status = read_scene_text(text, "dir/a.json", &scene, NULL, &error);
  if (status >= 0) status = yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error);
  assert_true(status < 0);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
  yw_scene_destroy(scene);
}

// Speed after a fall is the sum of gravity in the middle of every substep.
static void gravity_follows_its_keys(void** state) {
  (void)state;
  static const char* const kinds[] = {"linear", "smooth", "step"};
  for (int kind = 0; kind < 3; ++kind) {
    char text[700];
    snprintf(text, sizeof text,
             "{\"tracks\": [{\"set\": \"gravity\", \"kind\": \"%s\", \"keys\": ["
             "{\"time\": 0.1, \"value\": [0, -10, 0]}, {\"time\": 0.3, \"value\": [4, 2, 0]}]}],"
             "\"bodies\": [{\"rigid\": {}, " BOX "}]}",
             kinds[kind]);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    double x = 0, y = 0, h = 0.1 / 7;
    for (int i = 0; i < 28; ++i) {
      double t = ((i + 0.5) * h - 0.1) / 0.2;
      t = t < 0 ? 0 : t > 1 ? 1 : t;
      if (kind == 1) t = t * t * (3 - 2 * t);
      if (kind == 2) t = t < 1 ? 0 : 1;
      x += h * 4 * t;
      y += h * (-10 + 12 * t);
    }
    for (int i = 0; i < 4; ++i) assert_int_equal(yw_world_step(world, 0.1f, 7, NULL), YW_OK);
    yw_rigid_state motion;
    assert_int_equal(yw_body_rigid_state(world, yw_world_body(world, 0), &motion), YW_OK);
    assert_near(motion.velocity[0], x, 1e-5);
    assert_near(motion.velocity[1], y, 1e-5);
    assert_near(yw_world_gravity(world).y, 2.0, 0.0);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// The value of a body's setting now.
static double parameter_of(const yw_world* world, const char* method, const char* name) {
  yw_body_id body = yw_world_body(world, 0);
  yw_match_params match = {0};
  yw_frames_params frames = {0};
  yw_body_match_params(world, body, &match);
  yw_body_frames_params(world, body, &frames);
  if (strcmp(method, "frames") == 0) return (double)frames.stiffness;
  return (double)(strcmp(name, "alpha") == 0  ? match.alpha
                  : strcmp(name, "beta") == 0 ? match.beta
                                              : match.stiffness);
}

static void parameters_and_friction_follow_their_keys(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"bodies\": [{\"friction\": 0.9, \"match\": {\"beta\": 0.2}, " BOX
      ", \"tracks\": [{\"set\": \"beta\", \"loop\": true, \"keys\": [" KEY(0, 0) ", " KEY(
          0.2, 1) "]}, {\"set\": \"friction\", \"kind\": \"step\", \"keys\": [" KEY(0,
                                                                                    0.5) "]}]}]}");
  yw_world* world = world_of(scene);
  yw_body_id body = yw_world_body(world, 0);
  yw_match_params params;
  assert_int_equal(yw_body_match_params(world, body, &params), YW_OK);
  assert_near(params.beta, 0.0, 0.0);
  const double expected[] = {0.475, 0.975, 0.475, 0.975};  // the middle of the last of two substeps
  for (int i = 0; i < 4; ++i) {
    params.beta = 0.7f;  // set by hand: the track wins
    assert_int_equal(yw_body_set_match_params(world, body, &params), YW_OK);
    assert_int_equal(yw_world_step(world, 0.1f, 10, NULL), YW_OK);
    assert_int_equal(yw_body_match_params(world, body, &params), YW_OK);
    assert_near(params.beta, expected[i], 1e-5);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Numbers of the methods run from key to key and stay at the last.
static void numbers_of_methods_follow_their_keys(void** state) {
  (void)state;
  static const struct {
    const char *method, *settings, *name;
  } cases[] = {{"match", "\"alpha\": 0.5", "alpha"},
               {"match", "", "stiffness"},
               {"match", "", "beta"},
               {"frames", "", "stiffness"}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    char text[700];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"%s\": {%s}, " BOX
             ", \"tracks\": [{\"set\": \"%s\", \"kind\": \"smooth\", \"keys\": [" KEY(
                 0, 0.25) ", " KEY(0.2, 0.75) "]}]}]}",
             cases[c].method, cases[c].settings, cases[c].name);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    // The middle of the last of ten substeps: t = 0.095 and 0.195 s.
    const double at[2] = {0.475, 0.975};
    for (int i = 0; i < 3; ++i) {
      assert_int_equal(yw_world_step(world, 0.1f, 10, NULL), YW_OK);
      double t = i < 2 ? at[i] : 1.0, found = parameter_of(world, cases[c].method, cases[c].name);
      double expected = 0.25 + 0.5 * t * t * (3 - 2 * t);
      if (fabs(found - expected) > 1e-5) {
        fail_msg("%s %s is %g, not %g", cases[c].method, cases[c].name, found, expected);
      }
    }
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// A block slides without friction, then with 0.5: m dv/dt = -mu m g.
static void friction_acts_when_its_key_says(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"floor\": {\"friction\": 0.5}, \"bodies\": [{\"rigid\": {}, " BOX
      ", \"position\": [0, 0.5, 0], \"velocity\": [3, 0, 0], \"tracks\": [{\"set\": "
      "\"friction\", \"kind\": \"step\", \"keys\": [" KEY(0, 0) ", " KEY(0.2, 0.5) "]}]}]}");
  yw_world* world = world_of(scene);
  yw_rigid_state motion;
  for (int i = 0; i < 12; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  yw_body_rigid_state(world, yw_world_body(world, 0), &motion);
  assert_near(motion.velocity[0], 3.0, 1e-3);
  for (int i = 0; i < 12; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  yw_body_rigid_state(world, yw_world_body(world, 0), &motion);
  assert_near(motion.velocity[0], 3.0 - 0.5 * 9.81 * 0.2, 0.05);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// A cube in keyed wind is dragged by its speed against the air: m dv/dt = 1/2 rho c A u^2.
static void wind_follows_its_keys(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"gravity\": [0, 0, 0], \"wind\": {\"velocity\": [5, 0, 0], \"density\": 1}, \"tracks\": "
      "[{\"set\": \"wind\", \"kind\": \"step\", \"keys\": [{\"time\": 0, \"value\": [0, 0, 0]}, "
      "{\"time\": 0.5, \"value\": [0, 0, 8]}]}], \"bodies\": [{\"rigid\": {}, \"density\": "
      "100, " BOX "}]}");
  yw_world* world = world_of(scene);
  yw_rigid_state motion;
  for (int i = 0; i < 5; ++i) yw_world_step(world, 0.1f, 4, NULL);
  yw_body_rigid_state(world, yw_world_body(world, 0), &motion);
  assert_near(motion.velocity[0], 0.0, 0.0);
  for (int i = 0; i < 5; ++i) yw_world_step(world, 0.1f, 4, NULL);
  yw_body_rigid_state(world, yw_world_body(world, 0), &motion);
  // A face of 1 m^2, 100 kg, u = 8 m/s: 0.32 m/s^2 for half a second, a little less as it speeds
  // up.
  assert_near(motion.velocity[2], 0.16, 0.01);
  assert_near(yw_world_wind(world, (yw_vec3){3, 2, 1}).z, 8.0, 0.0);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Gusts: no mean, the root mean square that was asked for, smooth, another field for another seed.
static void gusts_have_the_turbulence_asked_for(void** state) {
  (void)state;
  enum { SAMPLES = 20000 };
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_wind_def wind = yw_default_wind_def();
  wind.velocity = (yw_vec3){3, 0, 0};
  wind.turbulence = 2;
  wind.size = 0.5f;
  double sum[3] = {0}, squares[3] = {0}, jump = 0, other = 0;
  for (int i = 0; i < SAMPLES; ++i) {
    yw_vec3 p = {0.37f * (float)(i % 30), 0.41f * (float)(i / 30 % 30), 0.43f * (float)(i / 900)};
    if (i % 200 == 0) yw_world_step(world, 0.0371f, 1, NULL);
    wind.seed = 1;
    assert_int_equal(yw_world_set_wind(world, &wind), YW_OK);
    yw_vec3 v = yw_world_wind(world, p);
    yw_vec3 near = yw_world_wind(world, (yw_vec3){p.x + 1e-3f, p.y, p.z});
    wind.seed = 2;
    assert_int_equal(yw_world_set_wind(world, &wind), YW_OK);
    yw_vec3 w = yw_world_wind(world, p);
    const double u[3] = {(double)v.x - 3, (double)v.y, (double)v.z};
    for (int k = 0; k < 3; ++k) sum[k] += u[k], squares[k] += u[k] * u[k];
    jump = fmax(jump, fabs((double)near.y - (double)v.y));
    other += (double)v.y * (double)w.y;
  }
  for (int k = 0; k < 3; ++k) {
    assert_near(sum[k] / SAMPLES, 0.0, 0.1);
    assert_near(sqrt(squares[k] / SAMPLES), 2.0, 0.1);
  }
  assert_at_most(jump, 0.1);                      // 1 mm of 50 cm
  assert_near(other / SAMPLES / 4.0, 0.0, 0.05);  // not correlated
  wind.size = 0;
  assert_int_equal(yw_world_set_wind(world, &wind), YW_ERR_INVALID);
  yw_world_destroy(world);
}

// Gusts travel with the air: with it they are those of still air.
static void gusts_travel_with_the_air(void** state) {
  (void)state;
  yw_wind_def still = yw_default_wind_def(), wind;
  still.turbulence = 2;
  still.size = 0.5f;
  wind = still;
  wind.velocity = (yw_vec3){3, -2, 5};
  for (int i = 0; i < 50; ++i) {
    // Multiples of a sixteenth, so that places along the way are exact.
    double time = 0.25 * i;
    yw_vec3 p = {0.0625f * (float)(7 * i), 0.0625f * (float)(5 * i), -0.0625f * (float)(3 * i)};
    yw_vec3 moved = {p.x + 3 * (float)time, p.y - 2 * (float)time, p.z + 5 * (float)time};
    yw_vec3 a = yw_wind_gust(&still, p, time), b = yw_wind_gust(&wind, moved, time);
    assert_true(a.x == b.x && a.y == b.y && a.z == b.z);
  }
}

// A cube hangs on its top face, falls when it is let go, and is caught again.
static void pins_let_go_and_hold_again(void** state) {
  (void)state;
  static const char* const methods[] = {"match", "frames", "fem"};
  for (int m = 0; m < 3; ++m) {
    char text[900];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"%s\": {}, " BOX
             ", \"pins\": [{\"select\": {\"box\": {\"size\": [2, 0.2, 2], \"center\": [0, 0.5, "
             "0]}}, \"strength\": {\"kind\": \"step\", \"keys\": [" KEY(0, 1) ", " KEY(
                 0.2, 0) ", " KEY(0.3, 1) "]}}]}]}",
             methods[m]);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    yw_body_id body = yw_world_body(world, 0);
    double top[3];
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 6; ++k) yw_world_step(world, i == 1 ? 0.1f / 6 : 0.2f / 6, 4, NULL);
      int32_t count;
      const yw_vec3* x = yw_body_positions(world, body, &count);
      const yw_vec3* rest = yw_model_points(yw_body_model(world, body), NULL);
      float lowest = 1e9f;
      for (int k = 0; k < count; ++k) lowest = rest[k].y > 0.49f ? fminf(lowest, x[k].y) : lowest;
      top[i] = (double)lowest;
    }
    assert_near(top[0], 0.5, 1e-4);
    assert_at_most(top[1], 0.48);  // falls by 5 cm in 0.1 s, some of it held up by its stretch
    assert_near(top[2], 0.5, 1e-4);
    assert_int_equal(yw_world_num_bodies(world), 1);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// Springs are as weak as their strength: the stretch under the weight is doubled at one half.
static void springs_are_as_weak_as_their_strength(void** state) {
  (void)state;
  double sag[2];
  for (int i = 0; i < 2; ++i) {
    char text[700];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"rigid\": {}, \"density\": 1, " BOX
             ", \"pins\": [{\"vertices\": [0, 1, 2, 3], \"spring\": {\"stiffness\": 50, "
             "\"damping\": 10}, \"strength\": [{\"time\": 0, \"value\": %s}]}]}]}",
             i == 0 ? "1" : "0.5");
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    double before = (double)yw_body_positions(world, yw_world_body(world, 0), NULL)[0].y;
    for (int k = 0; k < 300; ++k) yw_world_step(world, 1 / 60.0f, 4, NULL);
    sag[i] = before - (double)yw_body_positions(world, yw_world_body(world, 0), NULL)[0].y;
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
  assert_near(sag[1] / sag[0], 2.0, 0.2);
}

#define KEYED(beta) \
  "{\"floor\": true, \"tracks\": [{\"set\": \"gravity\", \"kind\": \"smooth\", \"keys\": ["  \
  "{\"time\": 0, \"value\": [0, -10, 0]}, {\"time\": 0.4, \"value\": [3, -5, 1]}]}],"        \
  "\"bodies\": [{\"position\": [0, 0.7, 0], \"match\": {}, " BOX                             \
  ", \"examples\": [{\"deform\": {\"twist\": {\"degrees\": 40}}}], \"tracks\": [{\"set\": "  \
  "\"beta\", \"keys\": [" KEY(0, 0) ", " KEY(0.5, beta) "]}], \"pins\": [{\"vertices\": [0, " \
  "1], \"strength\": {\"kind\": \"step\", \"keys\": [" KEY(0, 1) ", " KEY(0.25, 0) "]}}]}]}"

// A world goes on from a snapshot as if nothing had happened; another track is another world.
static void snapshots_know_tracks(void** state) {
  (void)state;
  yw_scene* scene = scene_of(KEYED(1));
  yw_world *world = world_of(scene), *other = world_of(scene);
  for (int i = 0; i < 20; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  size_t size = yw_world_snapshot_size(world);
  void* saved = malloc(size);
  assert_int_equal(yw_world_save(world, saved, size, NULL), YW_OK);
  assert_int_equal(yw_world_load(other, saved, size, NULL), YW_OK);
  assert_true(yw_world_hash(world) == yw_world_hash(other));
  for (int i = 0; i < 20; ++i) {
    yw_world_step(world, 1 / 60.0f, 4, NULL);
    yw_world_step(other, 1 / 60.0f, 4, NULL);
  }
  assert_true(yw_world_hash(world) == yw_world_hash(other));
  yw_world_destroy(other);
  yw_scene_destroy(scene);
  scene = scene_of(KEYED(0.5));
  other = world_of(scene);
  yw_error error = {0};
  assert_true(yw_world_load(other, saved, size, &error) < 0);
  assert_non_null(strstr(error.message, "tracks"));
  free(saved);
  yw_world_destroy(world);
  yw_world_destroy(other);
  yw_scene_destroy(scene);
}

// A body that sleeps on the floor wakes when gravity changes.
static void changes_of_gravity_wake_sleepers(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"floor\": true, \"tracks\": [{\"set\": \"gravity\", \"kind\": \"step\", \"keys\": ["
      "{\"time\": 0, \"value\": [0, -10, 0]}, {\"time\": 3, \"value\": [0, 2, 0]}]}],"
      "\"bodies\": [{\"position\": [0, 0.5, 0], \"fem\": {\"max_level\": 0, \"mass_damping\": 10, "
      "\"sleep_speed\": 0.01}, " BOX "}]}");
  yw_world* world = world_of(scene);
  yw_body_id body = yw_world_body(world, 0);
  yw_fem_statistics facts;
  for (int i = 0; i < 170; ++i) yw_world_step(world, 1 / 60.0f, 2, NULL);
  assert_int_equal(yw_body_fem_statistics(world, body, &facts), YW_OK);
  assert_true(facts.asleep);
  for (int i = 0; i < 40; ++i) yw_world_step(world, 1 / 60.0f, 2, NULL);
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, body, &sums), YW_OK);
  assert_at_least(sums.center[1], 0.52);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static void tracks_end_with_what_they_change(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  uint64_t plain = yw_world_hash(world);
  yw_pin_def pin_def = yw_default_pin_def();
  const int32_t vertex = 0;
  pin_def.body = body;
  pin_def.vertices = &vertex;
  pin_def.num_vertices = 1;
  yw_pin_id pin;
  assert_int_equal(yw_pin_create(world, &pin_def, &pin, NULL), YW_OK);
  const yw_track_key keys[2] = {at(0, 0), at(1, 1)};
  yw_track_def def = yw_default_track_def();
  def.keys = keys;
  def.num_keys = 2;
  yw_track_id tracks[4];
  for (int target = 0; target < 4; ++target) {
    def.target = (yw_track_target)target;
    def.body = body;
    def.parameter = "beta";
    def.pin = pin;
    assert_int_equal(yw_track_create(world, &def, &tracks[target], NULL), YW_OK);
  }
  assert_int_equal(yw_pin_destroy(world, pin), YW_OK);
  assert_false(yw_track_is_valid(world, tracks[YW_TRACK_PIN]));
  assert_int_equal(yw_track_destroy(world, tracks[YW_TRACK_GRAVITY]), YW_OK);
  assert_near(yw_world_gravity(world).y, -9.81, 1e-6);
  assert_int_equal(yw_track_destroy(world, tracks[YW_TRACK_FRICTION]), YW_OK);
  assert_int_equal(yw_track_destroy(world, tracks[YW_TRACK_FRICTION]), YW_ERR_INVALID);
  assert_true(yw_track_is_valid(world, tracks[YW_TRACK_PARAMETER]));
  assert_int_equal(yw_track_destroy(world, tracks[YW_TRACK_PARAMETER]), YW_OK);
  yw_match_params params;
  assert_int_equal(yw_body_match_params(world, body, &params), YW_OK);
  assert_near(params.beta, 0.0, 0.0);  // stays
  params.beta = 0.95f;
  assert_int_equal(yw_body_set_match_params(world, body, &params), YW_OK);
  assert_true(yw_world_hash(world) == plain);
  for (int target = 0; target < 2; ++target) {
    def.target = target ? YW_TRACK_PARAMETER : YW_TRACK_GRAVITY;
    assert_int_equal(yw_track_create(world, &def, &tracks[target], NULL), YW_OK);
  }
  assert_int_equal(yw_body_destroy(world, body), YW_OK);
  assert_false(yw_track_is_valid(world, tracks[1]));
  assert_true(yw_track_is_valid(world, tracks[0]));  // of the world, not of the body
  assert_int_equal(yw_world_step(world, 0.1f, 1, NULL), YW_OK);
  yw_world_destroy(world);
}

static void mistakes_are_refused(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(1, 1, 1, 0);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  yw_track_key keys[2] = {at(0, 0), at(1, 1.5f)};
  yw_track_def def = yw_default_track_def();
  refuse(world, &def, "at least one key");
  def = (yw_track_def){.target = YW_TRACK_PARAMETER, .body = body, .keys = keys, .num_keys = 2};
  def.parameter = "beta";
  refuse(world, &def, "key 1 sets beta of");
  def.parameter = "betta";
  refuse(world, &def, "alpha, beta, damping");
  def.parameter = NULL;
  refuse(world, &def, "no parameter");
  def.body.generation += 2;
  refuse(world, &def, "body does not exist");
  def.target = YW_TRACK_PIN;
  refuse(world, &def, "pin does not exist");
  def.target = YW_TRACK_FRICTION;
  def.body = body;
  keys[1].value.x = -1;
  refuse(world, &def, "0 or more");
  keys[1].time = 0;
  refuse(world, &def, "must be later");
  keys[1].time = NAN;
  refuse(world, &def, "not finite");
  def.num_keys = 1;
  def.kind = 9;
  refuse(world, &def, "kind 9");
  def.kind = YW_TRACK_STEP;
  yw_track_id id;
  assert_int_equal(yw_track_create(world, &def, &id, NULL), YW_OK);
  refuse(world, &def, "has a track already");
  yw_world_destroy(world);
}

static void mistakes_in_scenes_are_refused(void** state) {
  (void)state;
#define OF_SCENE(track) "{\"tracks\": [" track "], \"bodies\": [{" BOX "}]}"
#define OF_BODY(track) "{\"bodies\": [{\"tracks\": [" track "], " BOX "}]}"
  refuse_scene(OF_SCENE("{\"set\": \"beta\", \"keys\": [{\"time\": 0, \"value\": [1, 2, 3]}]}"),
               "tracks[0].set is \"beta\", but tracks of the scene set \"gravity\" or \"wind\"");
  refuse_scene(OF_SCENE("{\"set\": \"gravity\", \"keys\": [" KEY(0, 1) "]}"),
               "tracks[0].keys[0].value");
  refuse_scene(OF_BODY("{\"set\": \"gravity\", \"keys\": [" KEY(0, 1) "]}"), "belongs into");
  refuse_scene(OF_BODY("{\"set\": \"beta\", \"keys\": []}"), "is empty");
  refuse_scene(OF_BODY("{\"set\": \"beta\"}"), "keys");
  refuse_scene(OF_BODY("{\"keys\": [" KEY(0, 1) "]}"), "set");
  refuse_scene(OF_BODY("{\"set\": \"beta\", \"keys\": [" KEY(1, 1) ", " KEY(1, 0) "]}"),
               "must be later");
  refuse_scene(OF_BODY("{\"set\": \"betta\", \"keys\": [" KEY(0, 1) "]}"), "alpha, beta");
  refuse_scene(OF_BODY("{\"set\": \"beta\", \"kind\": \"bumpy\", \"keys\": [" KEY(0, 1) "]}"),
               "smooth");
}

// Weights of examples ---------------------------------------------------------------------------

#define LONGER "\"examples\": [{\"deform\": {\"stretch\": {\"amount\": 0.5, \"axis\": \"x\"}}}]"

static float weight_of(const yw_world* world, int method) {
  float weights[8] = {0};
  yw_body_id body = yw_world_body(world, 0);
  if (method == 0) yw_body_match_weights(world, body, weights, 8);
  if (method == 1) yw_body_frames_weights(world, body, weights, 8);
  return weights[1];
}

static float length_of(const yw_world* world) {
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), &count);
  float low = INFINITY, high = -INFINITY;
  for (int32_t i = 0; i < count; ++i) {
    low = fminf(low, x[i].x);
    high = fmaxf(high, x[i].x);
  }
  return high - low;
}

// A body takes the pose that its keys say, as far as they count, and goes back when they are gone.
static void weights_follow_their_keys(void** state) {
  (void)state;
  static const char* const methods[] = {"match", "frames"};
  for (int m = 0; m < 2; ++m) {
    char text[700];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": [{\"%s\": {\"beta\": 1, \"damping\": 2}, " BOX
             ", " LONGER ", \"tracks\": [{\"set\": \"weight\", \"example\": 0, \"keys\": [" KEY(
                 0, 0) ", " KEY(1, 1) "]}]}]}",
             methods[m]);
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    for (int i = 0; i < 30; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
    assert_near(weight_of(world, m), 0.5, 0.01);
    for (int i = 0; i < 120; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
    assert_near(weight_of(world, m), 1, 1e-5);
    assert_near(length_of(world), 1.5, 0.03);
    // Half of it: what the body would choose, which rests in the pose, is the other half.
    yw_track_key half = at(0, 0.0f);
    yw_track_def def = yw_default_track_def();
    def.target = YW_TRACK_CONTROL;
    def.body = yw_world_body(world, 0);
    def.keys = &half;
    def.num_keys = 1;
    yw_track_id control;
    assert_int_equal(yw_track_create(world, &def, &control, NULL), YW_OK);
    assert_int_equal(yw_track_destroy(world, (yw_track_id){1, 1}), YW_OK);
    yw_track_key back = at(0, 0.0f);
    def.target = YW_TRACK_WEIGHT;
    def.keys = &back;
    yw_track_id weight;
    assert_int_equal(yw_track_create(world, &def, &weight, NULL), YW_OK);
    // Given weights count for nothing: it stays where it is.
    for (int i = 0; i < 30; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
    assert_near(length_of(world), 1.5, 0.05);
    // Now they do.
    assert_int_equal(yw_track_destroy(world, control), YW_OK);
    for (int i = 0; i < 120; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
    assert_near(weight_of(world, m), 0, 1e-5);
    assert_near(length_of(world), 1.0, 0.03);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// A world with weights by keys goes on from a snapshot, bit for bit.
static void weights_survive_snapshots(void** state) {
  (void)state;
  yw_scene* scene = scene_of("{\"bodies\": [{\"match\": {}, " BOX ", " LONGER
                             ", \"tracks\": [{\"set\": \"weight\", \"loop\": true, \"keys\": [" KEY(
                                 0, 0) ", " KEY(0.3, 1) "]}]}]}");
  yw_world *a = world_of(scene), *b = world_of(scene);
  for (int i = 0; i < 11; ++i) yw_world_step(a, 1 / 60.0f, 4, NULL);
  size_t size = yw_world_snapshot_size(a);
  void* bytes = malloc(size);
  assert_int_equal(yw_world_save(a, bytes, size, NULL), YW_OK);
  assert_int_equal(yw_world_load(b, bytes, size, NULL), YW_OK);
  for (int i = 0; i < 11; ++i) {
    yw_world_step(a, 1 / 60.0f, 4, NULL);
    yw_world_step(b, 1 / 60.0f, 4, NULL);
    assert_true(yw_world_hash(a) == yw_world_hash(b));
  }
  // Going back removes tracks that were made since, with what they gave.
  yw_track_key key = at(0, 1.0f);
  yw_track_def def = yw_default_track_def();
  def.target = YW_TRACK_CONTROL;
  def.body = yw_world_body(b, 0);
  def.keys = &key;
  def.num_keys = 1;
  key.value.x = 0.25f;
  yw_track_id id;
  assert_int_equal(yw_track_create(b, &def, &id, NULL), YW_OK);
  yw_world_step(b, 1 / 60.0f, 4, NULL);
  assert_int_equal(yw_world_restore(b, bytes, size, NULL), YW_OK);
  for (int i = 0; i < 11; ++i) yw_world_step(b, 1 / 60.0f, 4, NULL);
  assert_true(yw_world_hash(a) == yw_world_hash(b));
  free(bytes);
  yw_world_destroy(a);
  yw_world_destroy(b);
  yw_scene_destroy(scene);
}

static void weights_that_do_not_exist_are_refused(void** state) {
  (void)state;
#define WEIGHT(method, more)              \
  "{\"bodies\": [{" method ", " BOX more  \
  ", \"tracks\": [{\"set\": \"weight\", " \
  "\"example\": 1, \"keys\": [" KEY(0, 0) "]}]}]}"
  refuse_scene(WEIGHT("\"match\": {}", ", " LONGER), "no example 1");
  refuse_scene(WEIGHT("\"match\": {}", ""), "no example 1");
  refuse_scene(WEIGHT("\"frames\": {}", ", " LONGER), "no example 1");
  refuse_scene(WEIGHT("\"fem\": {}", ""), "no example 1");
  refuse_scene("{\"bodies\": [{\"match\": {\"groups\": \"per_region\"}, " BOX ", " LONGER
               ", \"tracks\": [{\"set\": \"weight\", \"keys\": [" KEY(0, 0) "]}]}]}",
               "choose on their own");
  refuse_scene("{\"bodies\": [{\"match\": {}, " BOX ", " LONGER
               ", \"tracks\": [{\"set\": \"weight\", \"keys\": [" KEY(0, 1.5) "]}]}]}",
               "key 0 is 1.5");
}

// How far the first body of a scene of the gallery gets along x, m.
static double travel(const char* name, int frames, const char* change, const char* value) {
  char path[400];
  snprintf(path, sizeof path, "%s/scenes/gallery/%s.json", YW_SOURCE_DIR, name);
  yw_scene_override override = {change, value};
  yw_scene_def def = yw_default_scene_def();
  def.path = path;
  def.overrides = &override;
  def.num_overrides = change ? 1 : 0;
  yw_scene* scene = NULL;
  yw_error error = {0};
  if (yw_scene_read(&def, &scene, NULL, &error) < 0) fail_msg("%s", error.message);
  yw_world* world = world_of(scene);
  yw_body_sums before, after;
  yw_body_sums_of(world, yw_world_body(world, 0), &before);
  for (int i = 0; i < frames; ++i) yw_world_step(world, 1 / 60.0f, 4, NULL);
  yw_body_sums_of(world, yw_world_body(world, 0), &after);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return after.center[0] - before.center[0];
}

// The worm crawls by friction alone: without it, it stays.
static void worms_crawl(void** state) {
  (void)state;
  assert_at_least(travel("worm", 120, NULL, NULL), 0.1);
  assert_near(travel("worm", 120, "bodies[0].friction", "0"), 0, 0.03);
}

// The eel swims by pushing against the water: without any, it stays.
static void eels_swim(void** state) {
  (void)state;
  assert_at_least(travel("swimmer", 150, NULL, NULL), 0.05);
  assert_near(travel("swimmer", 150, "wind.density", "0"), 0, 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(weights_follow_their_keys),
                                     cmocka_unit_test(weights_survive_snapshots),
                                     cmocka_unit_test(weights_that_do_not_exist_are_refused),
                                     cmocka_unit_test(worms_crawl),
                                     cmocka_unit_test(eels_swim),
                                     cmocka_unit_test(gravity_follows_its_keys),
                                     cmocka_unit_test(parameters_and_friction_follow_their_keys),
                                     cmocka_unit_test(numbers_of_methods_follow_their_keys),
                                     cmocka_unit_test(friction_acts_when_its_key_says),
                                     cmocka_unit_test(wind_follows_its_keys),
                                     cmocka_unit_test(gusts_have_the_turbulence_asked_for),
                                     cmocka_unit_test(gusts_travel_with_the_air),
                                     cmocka_unit_test(pins_let_go_and_hold_again),
                                     cmocka_unit_test(springs_are_as_weak_as_their_strength),
                                     cmocka_unit_test(snapshots_know_tracks),
                                     cmocka_unit_test(changes_of_gravity_wake_sleepers),
                                     cmocka_unit_test(tracks_end_with_what_they_change),
                                     cmocka_unit_test(mistakes_are_refused),
                                     cmocka_unit_test(mistakes_in_scenes_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
