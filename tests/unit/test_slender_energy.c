// SPDX-License-Identifier: MIT
// Energies of rods and sheets: derivatives against finite differences, invariance under rigid
// motions.
#include "methods/slender/examples.h"
#include "support/slender_testing.h"
#include "yawara/slender.h"

static slender_model* coil(void) {
  yw_vec3 points[9];
  for (int i = 0; i < 9; ++i) {
    points[i] =
        (yw_vec3){0.1f * cosf(0.6f * (float)i), 0.03f * (float)i, 0.1f * sinf(0.6f * (float)i)};
  }
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = 9;
  def.section = YW_SECTION_RECTANGLE;
  def.width = 0.03f;
  def.thickness = 0.01f;
  return rod_model_of(&def);
}

static slender_model* dome(void) {
  yw_tri_mesh mesh = plate_mesh(0.4, 0.3, 4, 3, PLATE_JITTERED);
  for (int i = 0; i < mesh.num_vertices; ++i) {
    yw_vec3* p = &mesh.positions[i];
    p->y = 0.3f * p->x * p->x - 0.2f * p->x * p->z;
  }
  return sheet_from(mesh, 0.02f, 1e6f);
}

// Elements whose rest shape examples have changed; NULL arrays: those of the model.
static slender_bent bent;

static double energy_of(const slender_model* model, int e, const slender_pose* pose,
                        double* gradient, double* hessian) {
  return yw_slender_bent_energy(model, &bent, e, pose, gradient, hessian, SLENDER_EXACT);
}

static void disturb(slender_case* c, double size, double angle) {
  test_random random = {3};
  for (int p = 0; p < c->model->num_particles; ++p) {
    double turn[3];
    for (int k = 0; k < 3; ++k) {
      c->pose.x[3 * p + k] += size * test_random_in(&random, -1, 1);
      turn[k] = angle * test_random_in(&random, -1, 1);
    }
    c->pose.q[p] = yw_turn_mul(yw_turn_exp(turn), c->pose.q[p]);
  }
}

// Energy of element e with its unknowns moved by share * direction (6 per corner).
static double energy_along(const slender_case* c, int e, const double* direction, double share) {
  int corners = c->model->corners;
  const int32_t* p = c->model->elements + e * corners;
  double x[9];
  yw_turn q[3];
  for (int j = 0; j < corners; ++j) {
    double turn[3];
    q[j] = c->pose.q[p[j]];
    for (int k = 0; k < 3; ++k) {
      x[3 * j + k] = c->pose.x[3 * p[j] + k];
      c->pose.x[3 * p[j] + k] += share * direction[6 * j + k];
      turn[k] = share * direction[6 * j + 3 + k];
    }
    c->pose.q[p[j]] = yw_turn_mul(yw_turn_exp(turn), q[j]);
  }
  double energy = energy_of(c->model, e, &c->pose, NULL, NULL);
  for (int j = 0; j < corners; ++j) {
    c->pose.q[p[j]] = q[j];
    for (int k = 0; k < 3; ++k) c->pose.x[3 * p[j] + k] = x[3 * j + k];
  }
  return energy;
}

static void check_derivatives(slender_model* model, double size, double angle) {
  slender_case c;
  case_of(&c, model);
  disturb(&c, size, angle);
  test_random random = {8};
  int rows = 6 * model->corners;
  for (int e = 0; e < model->num_elements; ++e) {
    double gradient[18], hessian[18 * 18], d[18], slope = 0, curve = 0, all = 0, most = 0;
    energy_of(model, e, &c.pose, gradient, hessian);
    for (int i = 0; i < rows; ++i) {
      // Positions move about as much as through rotations.
      d[i] = test_random_in(&random, -1, 1) * (i % 6 < 3 ? 0.03 : 1.0);
      slope += gradient[i] * d[i];
      all += fabs(gradient[i] * d[i]);
    }
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) {
        curve += d[i] * hessian[rows * i + j] * d[j];
        most += fabs(d[i] * hessian[rows * i + j] * d[j]);
        assert_near(hessian[rows * i + j], hessian[rows * j + i],
                    1e-9 * fabs(hessian[rows * i + i]) + 1e-9);
      }
    }
    double h = 1e-4, sum = 0, twice = 0;
    const double c1[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60}, c2[3] = {3.0 / 2, -3.0 / 20, 1.0 / 90};
    double here = energy_along(&c, e, d, 0.0);
    for (int k = 1; k <= 3; ++k) {
      double up = energy_along(&c, e, d, k * h), down = energy_along(&c, e, d, -k * h);
      sum += c1[k - 1] * (up - down) / h;
      twice += c2[k - 1] * (up + down - 2 * here) / (h * h);
    }
    assert_near(sum, slope, 1e-8 * all);
    assert_near(twice, curve, 1e-5 * most);
  }
  case_free(&c);
}

static void rod_derivatives_are_right(void** state) {
  (void)state;
  check_derivatives(coil(), 0.003, 0.1);
  check_derivatives(coil(), 0.02, 0.8);
}

static void sheet_derivatives_are_right(void** state) {
  (void)state;
  check_derivatives(dome(), 0.003, 0.1);
  check_derivatives(dome(), 0.02, 0.6);
}

// The rest shape of every element becomes that of another pose.
static void bend_to(const slender_model* model, const slender_pose* pose) {
  size_t n = (size_t)model->num_elements;
  if (model->kind == SLENDER_ROD) {
    bent.pairs = malloc(n * sizeof *bent.pairs);
    bent.turns = malloc(n * sizeof *bent.turns);
  } else {
    bent.triangles = malloc(n * sizeof *bent.triangles);
  }
  for (int e = 0; e < model->num_elements; ++e) {
    double strains[SLENDER_STRAINS];
    yw_slender_strains(model, e, pose, strains);
    if (bent.pairs) yw_rod_bend(&model->pairs[e], strains, &bent.pairs[e], bent.turns[e]);
    if (bent.triangles) yw_sheet_bend(&model->triangles[e], strains, &bent.triangles[e]);
  }
}

static void unbend(void) {
  free(bent.pairs);
  free(bent.turns);
  free(bent.triangles);
  bent = (slender_bent){0};
}

// A body in the pose of an example has no stress, however it is turned; elsewhere the derivatives
// are right.
static void check_bent(slender_model* (*make)(void), double size, double angle) {
  slender_case c;
  case_of(&c, make());
  disturb(&c, size, angle);
  bend_to(c.model, &c.pose);
  const double turn[3] = {0.9, 0.3, -1.2};
  yw_turn q = yw_turn_exp(turn);
  double before = 0, after = 0;
  for (int e = 0; e < c.model->num_elements; ++e) {
    before += yw_slender_energy(c.model, e, &c.pose, NULL, NULL, SLENDER_EXACT);
  }
  for (int p = 0; p < c.model->num_particles; ++p) {
    double x[3];
    yw_turn_apply(q, c.pose.x + 3 * p, x);
    for (int k = 0; k < 3; ++k) c.pose.x[3 * p + k] = x[k] + 0.2;
    c.pose.q[p] = yw_turn_mul(q, c.pose.q[p]);
  }
  for (int e = 0; e < c.model->num_elements; ++e) {
    double gradient[18];
    after += energy_of(c.model, e, &c.pose, gradient, NULL);
    for (int i = 0; i < 6 * c.model->corners; ++i) assert_near(gradient[i], 0, 1e-9);
  }
  assert_at_least(before, 1e-5);
  assert_at_most(fabs(after), 1e-12 * before);
  case_free(&c);
  check_derivatives(make(), 2 * size, 2 * angle);
  unbend();
}

static void examples_change_the_rest_shape(void** state) {
  (void)state;
  check_bent(coil, 0.005, 0.2);
  check_bent(dome, 0.01, 0.15);
}

// Rigid motions cause no force; in any state there is no net force or torque.
static void check_rigid(slender_model* model) {
  slender_case c;
  case_of(&c, model);
  const double turn[3] = {0.7, -1.9, 0.4}, shift[3] = {0.3, 0.2, -0.5};
  yw_turn q = yw_turn_exp(turn);
  for (int p = 0; p < model->num_particles; ++p) {
    yw_turn_apply(q, c.pose.x + 3 * p, c.pose.x + 3 * p);
    for (int k = 0; k < 3; ++k) c.pose.x[3 * p + k] += shift[k];
    c.pose.q[p] = q;
  }
  for (int round = 0; round < 2; ++round) {
    double force[3] = {0}, torque[3] = {0}, size = 0.0, energy = 0.0;
    for (int e = 0; e < model->num_elements; ++e) {
      double g[18];
      energy += yw_slender_energy(model, e, &c.pose, g, NULL, SLENDER_EXACT);
      for (int j = 0; j < model->corners; ++j) {
        const double *x = c.pose.x + 3 * model->elements[e * model->corners + j], *f = g + 6 * j;
        for (int k = 0; k < 3; ++k) {
          int a = (k + 1) % 3, b = (k + 2) % 3;
          force[k] += f[k];
          torque[k] += f[3 + k] + x[a] * f[b] - x[b] * f[a];
          size += fabs(f[k]) + fabs(f[3 + k]);
        }
      }
    }
    if (round == 0) assert_at_most(energy, 1e-9);
    for (int k = 0; k < 3; ++k) {
      assert_at_most(fabs(force[k]), 1e-12 * size + 1e-7);
      assert_at_most(fabs(torque[k]), 1e-12 * size + 1e-7);
    }
    disturb(&c, 0.01, 0.3);
  }
  case_free(&c);
}

static void rigid_motions_cost_nothing(void** state) {
  (void)state;
  check_rigid(coil());
  check_rigid(dome());
}

// (x, y, z) as (z, x, y), `times` times.
static void cycle(double* v, int times) {
  for (int i = 0; i < times; ++i) {
    double z = v[2];
    v[2] = v[1], v[1] = v[0], v[0] = z;
  }
}

// A sheet that is bent and stretched has the same energy in any plane.
static void sheets_are_alike_in_any_plane(void** state) {
  (void)state;
  double energies[3] = {0};
  for (int times = 0; times < 3; ++times) {
    yw_tri_mesh mesh = plate_mesh(0.4, 0.3, 4, 3, PLATE_JITTERED);
    for (int i = 0; i < mesh.num_vertices; ++i) {
      yw_vec3* p = &mesh.positions[i];
      double x[3] = {(double)p->x, 0.0, (double)p->z};
      cycle(x, times);
      *p = yw_v3((float)x[0], (float)x[1], (float)x[2]);
    }
    slender_case c;
    case_of(&c, sheet_from(mesh, 0.02f, 1e6f));
    test_random random = {3};
    for (int p = 0; p < c.model->num_particles; ++p) {
      double move[3], turn[3];
      for (int k = 0; k < 3; ++k) {
        move[k] = 0.01 * test_random_in(&random, -1, 1);
        turn[k] = 0.3 * test_random_in(&random, -1, 1);
      }
      cycle(move, times);
      cycle(turn, times);
      for (int k = 0; k < 3; ++k) c.pose.x[3 * p + k] += move[k];
      c.pose.q[p] = yw_turn_exp(turn);
    }
    for (int e = 0; e < c.model->num_elements; ++e) {
      energies[times] += yw_slender_energy(c.model, e, &c.pose, NULL, NULL, SLENDER_EXACT);
    }
    assert_near(energies[times] / energies[0], 1.0, 1e-5);
    case_free(&c);
  }
}

// The strains of the pair after its unknowns moved by share along one of them, which are in the
// axes of its frame. Those axes turn with the pair, as strains do.
static void strain_along(const slender_case* c, const rod_pair* pair, yw_turn frame, int unknown,
                         double share, double out[9]) {
  int32_t p = pair->particles[unknown / 6];
  double way[3] = {0}, moved[3], x[3];
  yw_turn q = c->pose.q[p];
  way[unknown % 3] = share;
  yw_turn_apply(frame, way, moved);
  for (int k = 0; k < 3; ++k) {
    x[k] = c->pose.x[3 * p + k];
    if (unknown % 6 < 3) c->pose.x[3 * p + k] += moved[k];
  }
  if (unknown % 6 >= 3) c->pose.q[p] = yw_turn_mul(yw_turn_exp(moved), q);
  yw_rod_strain(pair, &c->pose, out);
  c->pose.q[p] = q;
  for (int k = 0; k < 3; ++k) c->pose.x[3 * p + k] = x[k];
}

// What the position-based solver of rods leans on.
static void strains_of_a_pair_change_as_their_jacobian_says(void** state) {
  (void)state;
  slender_case c;
  case_of(&c, coil());
  disturb(&c, 0.02, 0.8);
  for (int e = 0; e < c.model->num_elements; ++e) {
    const rod_pair* pair = &c.model->pairs[e];
    rod_strains now;
    yw_rod_strains(pair, &c.pose, &now);
    double largest = 0.0;
    for (int i = 0; i < 9 * 12; ++i) largest = fmax(largest, fabs(now.jacobian[i / 12][i % 12]));
    for (int u = 0; u < 12; ++u) {
      double h = 1e-6, up[9], down[9];
      strain_along(&c, pair, now.frame, u, h, up);
      strain_along(&c, pair, now.frame, u, -h, down);
      for (int i = 0; i < 9; ++i) {
        assert_near((up[i] - down[i]) / (2 * h), now.jacobian[i][u], 1e-7 * largest);
      }
    }
  }
  case_free(&c);
}

// The frame of a pair maximises tr(R^T A): no other rotation does better.
static void frame_of_a_pair_is_the_best(void** state) {
  (void)state;
  slender_case c;
  case_of(&c, coil());
  disturb(&c, 0.03, 1.2);
  test_random random = {4};
  for (int e = 0; e < c.model->num_elements; ++e) {
    const rod_pair* pair = &c.model->pairs[e];
    double s[6];
    yw_rod_frame(pair, &c.pose, s);
    double best = yw_rod_energy(pair, &c.pose, NULL, NULL, SLENDER_EXACT);
    for (int i = 0; i < 200; ++i) {
      yw_turn r = yw_turn_normalize(
          (yw_turn){test_random_in(&random, -1, 1), test_random_in(&random, -1, 1),
                    test_random_in(&random, -1, 1), test_random_in(&random, -1, 1)});
      double le[3], energy = 0.0;
      yw_turn_apply(r, pair->e, le);
      for (int k = 0; k < 3; ++k) {
        double d = c.pose.x[3 * pair->particles[1] + k] - c.pose.x[3 * pair->particles[0] + k];
        energy += 0.25 * pair->weight * pow(d - pair->length * le[k], 2);
      }
      for (int j = 0; j < 2; ++j) {
        yw_turn way = yw_turn_mul(yw_turn_conjugate(r), c.pose.q[pair->particles[j]]);
        const double v[3] = {way.x, way.y, way.z}, *t = pair->inertia;
        energy += 2 * (t[0] * v[0] * v[0] + t[1] * v[1] * v[1] + t[2] * v[2] * v[2] +
                       2 * (t[3] * v[0] * v[1] + t[4] * v[0] * v[2] + t[5] * v[1] * v[2]));
      }
      assert_at_least(energy, best - 1e-9);
    }
  }
  case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rod_derivatives_are_right),
      cmocka_unit_test(sheet_derivatives_are_right),
      cmocka_unit_test(examples_change_the_rest_shape),
      cmocka_unit_test(rigid_motions_cost_nothing),
      cmocka_unit_test(sheets_are_alike_in_any_plane),
      cmocka_unit_test(frame_of_a_pair_is_the_best),
      cmocka_unit_test(strains_of_a_pair_change_as_their_jacobian_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
