// SPDX-License-Identifier: MIT
// A small game: a rubber ball among jelly blocks, seen from the side in the terminal.
//   game                 play: a, d roll; w jump; s a bomb; e shoot; r back by two seconds; q quit
//   game "ddwwe.s.r"     plays these keys, ten a second ('.': none), and prints the last picture
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <yawara/yawara.h>

#define COLUMNS 76
#define ROWS 22
#define CELL 0.1f  // m, of a character; rows are twice as high
#define STEPS 6    // of 1/60 s per key
#define SAVES 20   // two seconds
#define MAX_BLOCKS 24

typedef struct game {
  yw_world* world;
  yw_model *ball_model, *block_model;
  yw_body_id player, blocks[MAX_BLOCKS];
  int num_blocks, score, thumps;
  void* saves[SAVES];
  size_t sizes[SAVES];
  int num_saves;
} game;

static void stop(const char* what, const yw_error* error) {
  fprintf(stderr, "%s: %s\n", what, error->message);
  exit(1);
}

// Building ----------------------------------------------------------------------------------------

static yw_model* make_model(float width, float height, int32_t cells, float stiffness) {
  yw_error error = {0};
  yw_tet_mesh mesh;
  yw_aabb box = {{-width / 2, -height / 2, -width / 2}, {width / 2, height / 2, width / 2}};
  yw_match_def def = yw_default_match_def();
  yw_model* model = NULL;
  if (yw_tet_mesh_lattice(NULL, box, (int32_t[3]){cells, cells, cells}, YW_LATTICE_FIVE, &mesh) <
      0) {
    exit(1);
  }
  def.mesh = &mesh;
  def.params.stiffness = stiffness;
  if (yw_model_create_match(NULL, &def, &model, &error) < 0) stop("model", &error);
  yw_tet_mesh_free(&mesh);
  return model;
}

static void add_wall(game* g, yw_vec3 normal, float offset) {
  yw_error error = {0};
  yw_obstacle_def def = yw_default_obstacle_def();
  yw_obstacle_id id;
  if (yw_shape_plane(NULL, normal, offset, &def.shape) < 0) exit(1);
  if (yw_obstacle_create(g->world, &def, &id, &error) < 0) stop("wall", &error);
  yw_shape_release(def.shape);
}

static yw_body_id add_body(game* g, yw_model* model, float x, float y) {
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  yw_body_id id;
  def.model = model;
  def.transform.position = (yw_vec3){x, y, 0};
  def.restitution = 0.3f;
  if (yw_body_create(g->world, &def, &id, &error) < 0) stop("body", &error);
  return id;
}

static void start(game* g) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.rollback = true;
  if (yw_world_create(&def, &g->world) < 0) exit(1);
  yw_world_record_contacts(g->world, true);
  float side = COLUMNS * CELL / 2;
  add_wall(g, (yw_vec3){0, 1, 0}, 0);
  add_wall(g, (yw_vec3){1, 0, 0}, -side);
  add_wall(g, (yw_vec3){-1, 0, 0}, -side);
  add_wall(g, (yw_vec3){0, 0, 1}, -0.3f);
  add_wall(g, (yw_vec3){0, 0, -1}, -0.3f);
  g->ball_model = make_model(0.5f, 0.5f, 2, 20000.0f);
  g->block_model = make_model(0.5f, 0.6f, 2, 4000.0f);
  g->player = add_body(g, g->ball_model, -2.5f, 0.3f);
  for (int i = 0; i < 6; ++i) {
    g->blocks[g->num_blocks++] =
        add_body(g, g->block_model, 0.6f + 0.7f * (float)(i % 3), 0.35f + 0.7f * (float)(i / 3));
  }
}

// Playing -----------------------------------------------------------------------------------------

static yw_vec3 place_of(const game* g, yw_body_id id) {
  yw_body_sums sums;
  yw_body_sums_of(g->world, id, &sums);
  return (yw_vec3){(float)sums.center[0], (float)sums.center[1], (float)sums.center[2]};
}

// Something to stand on within a hand's breadth below?
static bool stands(const game* g) {
  yw_query_filter filter = yw_default_query_filter();
  filter.ignored = g->player;
  yw_hit hit;
  return yw_world_cast_ball(g->world, place_of(g, g->player), 0.2f, (yw_vec3){0, -0.2f, 0}, &filter,
                            &hit) > 0;
}

// A ray to the right: what it hits is pushed, and gone if it is near.
static void shoot(game* g) {
  yw_query_filter filter = yw_default_query_filter();
  filter.ignored = g->player;
  filter.obstacles = false;
  yw_hit hit;
  if (yw_world_cast_ray(g->world, place_of(g, g->player), (yw_vec3){9, 0.5f, 0}, &filter, &hit) !=
      1) {
    return;
  }
  yw_body_add_impulse_at(g->world, hit.body, hit.point, 0.2f, (yw_vec3){60, 20, 0});
  if (hit.distance > 1.5f) return;
  for (int i = 0; i < g->num_blocks; ++i) {
    if (memcmp(&g->blocks[i], &hit.body, sizeof hit.body) != 0) continue;
    g->blocks[i] = g->blocks[--g->num_blocks];
    yw_body_destroy(g->world, hit.body);
    ++g->score;
    return;
  }
}

static void explode(game* g) {
  yw_explosion_def def = yw_default_explosion_def();
  def.center = place_of(g, g->player);
  def.center.y -= 0.3f;
  def.radius = 3.0f;
  def.impulse = 900.0f;
  yw_world_explode(g->world, &def);
}

static void keep(game* g) {
  int at = g->num_saves++ % SAVES;
  size_t size = yw_world_snapshot_size(g->world);
  g->saves[at] = realloc(g->saves[at], size);
  if (!g->saves[at] || yw_world_save(g->world, g->saves[at], size, &g->sizes[at]) < 0) exit(1);
}

// The oldest save: bodies that were shot since are back, with the ids they had.
static void go_back(game* g) {
  yw_error error = {0};
  int at = g->num_saves < SAVES ? 0 : g->num_saves % SAVES;
  if (yw_world_restore(g->world, g->saves[at], g->sizes[at], &error) < 0) stop("back", &error);
  g->num_blocks = 0;
  for (int32_t i = 0; i < yw_world_num_bodies(g->world); ++i) {
    yw_body_id id = yw_world_body(g->world, i);
    if (yw_body_model(g->world, id) == g->block_model) g->blocks[g->num_blocks++] = id;
  }
  g->num_saves = 0;
  keep(g);
}

static void play(game* g, int key) {
  bool ground = stands(g);
  if (key == 'w' && ground) yw_body_add_impulse(g->world, g->player, (yw_vec3){0, 600, 0});
  if (key == 's') explode(g);
  if (key == 'e') shoot(g);
  if (key == 'r') go_back(g);
  for (int i = 0; i < STEPS; ++i) {
    float push = key == 'd' ? 1200.0f : key == 'a' ? -1200.0f : 0.0f;
    yw_body_add_force(g->world, g->player, (yw_vec3){push, 0, 0});
    yw_world_step(g->world, 1.0f / 60.0f, 2, NULL);
    g->thumps += yw_world_contact_events(g->world).num_impacts;
  }
  keep(g);
}

// Showing -----------------------------------------------------------------------------------------

// One ray per character, from the front.
static void show(const game* g, const char* before) {
  static char screen[(COLUMNS + 1) * ROWS + 1];
  char* out = screen;
  for (int row = ROWS - 1; row >= 0; --row) {
    for (int column = 0; column < COLUMNS; ++column) {
      yw_query_filter filter = yw_default_query_filter();
      filter.obstacles = false;
      yw_vec3 from = {((float)column - COLUMNS / 2 + 0.5f) * CELL, ((float)row + 0.5f) * 2 * CELL,
                      3};
      yw_hit hit;
      int32_t found = yw_world_cast_ray(g->world, from, (yw_vec3){0, 0, -6}, &filter, &hit);
      bool player = found == 1 && memcmp(&hit.body, &g->player, sizeof hit.body) == 0;
      *out++ = found != 1 ? ' ' : player ? '@' : fabsf(hit.normal.z) > 0.9f ? '#' : '+';
    }
    *out++ = '\n';
  }
  *out = 0;
  printf("%s%s%.*s\nscore %d, thumps %d, blocks %d, t = %.1f s\n", before, screen, COLUMNS,
         "================================================================================",
         g->score, g->thumps, g->num_blocks, yw_world_time(g->world));
}

static void play_live(game* g) {
  if (system("stty -icanon -echo") != 0) return;
  fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
  for (int key = 0; key != 'q';) {
    char typed;
    key = read(STDIN_FILENO, &typed, 1) == 1 ? typed : '.';
    play(g, key);
    show(g, "\033[H\033[2J");
    nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
  }
  if (system("stty icanon echo") != 0) return;
}

int main(int argc, char** argv) {
  game g = {0};
  start(&g);
  keep(&g);
  for (const char* key = argc > 1 ? argv[1] : ""; *key; ++key) play(&g, *key);
  if (argc > 1) {
    show(&g, "");
  } else {
    play_live(&g);
  }
  printf("world %016llx\n", (unsigned long long)yw_world_hash(g.world));
  for (int i = 0; i < SAVES; ++i) free(g.saves[i]);
  yw_world_destroy(g.world);
  yw_model_release(g.ball_model);
  yw_model_release(g.block_model);
  return 0;
}
