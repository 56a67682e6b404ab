// SPDX-License-Identifier: MIT
// Rods and sheets in equilibrium against the formulas of beams, springs, rings and plates.
#include "support/slender_testing.h"
#include "yawara/slender.h"

#define PI 3.14159265358979323846

// Rods --------------------------------------------------------------------------------------------

typedef struct rod_stiffness {
  double area, about_x, about_y, torsion;
} rod_stiffness;

static yw_rod_def straight_rod(int n, yw_section section) {
  yw_rod_def def = yw_default_rod_def();
  def.points = straight_points(n, 1.0);
  def.num_points = n;
  def.section = section;
  def.radius = 0.01f;
  def.width = 0.03f;
  def.thickness = 0.01f;
  def.width_direction = (yw_vec3){0, 0, 1};
  def.youngs_modulus = 1e9f;
  return def;
}

static rod_stiffness stiffness_of(const yw_rod_def* def) {
  double w = (double)def->width, t = (double)def->thickness, r = (double)def->radius;
  if (def->section == YW_SECTION_RECTANGLE) {
    // Timoshenko, Theory of Elasticity: 0.263 for sides 3 : 1.
    return (rod_stiffness){w * t, w * t * t * t / 12, t * w * w * w / 12, 0.26332 * w * t * t * t};
  }
  double a = def->section == YW_SECTION_ROUND ? r : w / 2;
  double b = def->section == YW_SECTION_ROUND ? r : t / 2;
  return (rod_stiffness){PI * a * b, PI * a * b * b * b / 4, PI * b * a * a * a / 4,
                         PI * a * a * a * b * b * b / (a * a + b * b)};
}

// Tip displacement or rotation (component 0 to 5) under a unit of the same load, times 1e-4.
static double tip_answer(const yw_rod_def* def, int component, double load) {
  slender_case c;
  int last = def->num_points - 1;
  case_of(&c, rod_model_of(def));
  c.held[0] = c.clamped[0] = true;
  c.loads[6 * last + component] = load;
  case_solve(&c);
  double turn[3];
  yw_turn_log(c.pose.q[last], turn);
  double answer =
      component < 3 ? c.pose.x[3 * last + component] - (component == 0) : turn[component - 3];
  case_free(&c);
  return answer / load;
}

static void rods_have_ea_ei_and_gj(void** state) {
  (void)state;
  for (int section = 0; section < 3; ++section) {
    yw_rod_def def = straight_rod(11, (yw_section)section);
    rod_stiffness s = stiffness_of(&def);
    double young = (double)def.youngs_modulus, shear = young / 2 / (1 + (double)def.poissons_ratio);
    // Along x; the width is along z, so that loads along y bend about the width.
    assert_near(tip_answer(&def, 0, 1e-3) * young * s.area, 1.0, 1e-6);
    assert_near(tip_answer(&def, 3, 1e-4) * shear * s.torsion, 1.0, section == 2 ? 2e-4 : 1e-6);
    assert_near(tip_answer(&def, 5, 1e-4) * young * s.about_x, 1.0, 1e-4);
    assert_near(tip_answer(&def, 4, 1e-4) * young * s.about_y, 1.0, 1e-4);
    // The tip of a cantilever within 1 % at 11 particles.
    assert_near(tip_answer(&def, 1, 1e-3) * 3 * young * s.about_x, 1.0, 0.01);
    assert_near(tip_answer(&def, 2, 1e-3) * 3 * young * s.about_y, 1.0, 0.01);
    free((void*)def.points);
  }
}

// The modulus rises along the rod from E to 3 E: a pull stretches it by F L ln 3 / 2 E A, a torque
// at the tip twists it likewise.
static void rods_may_stiffen_along_their_length(void** state) {
  (void)state;
  yw_rod_def def = straight_rod(41, YW_SECTION_ROUND);
  rod_stiffness s = stiffness_of(&def);
  float field[41];
  for (int i = 0; i < 41; ++i) field[i] = def.youngs_modulus * (1.0f + 2.0f * (float)i / 40.0f);
  def.youngs_modulus_field = field;
  double young = (double)def.youngs_modulus, shear = young / 2 / (1 + (double)def.poissons_ratio);
  assert_near(tip_answer(&def, 0, 1e-3) * young * s.area, 0.5 * log(3), 1e-3);
  assert_near(tip_answer(&def, 3, 1e-4) * shear * s.torsion, 0.5 * log(3), 1e-3);
  free((void*)def.points);
}

static void rod_error_falls_with_the_square(void** state) {
  (void)state;
  double error[3];
  for (int i = 0; i < 3; ++i) {
    yw_rod_def def = straight_rod(10 * (1 << i) + 1, YW_SECTION_ROUND);
    rod_stiffness s = stiffness_of(&def);
    error[i] = tip_answer(&def, 1, 1e-4) * 3 * (double)def.youngs_modulus * s.about_x - 1.0;
    free((void*)def.points);
  }
  print_message("tip of a cantilever, 11, 21, 41 particles: %+.3f, %+.3f, %+.3f %%\n",
                100 * error[0], 100 * error[1], 100 * error[2]);
  assert_at_most(error[0], 0.0055);
  assert_at_most(error[1] / error[0], 0.3);
  assert_at_most(error[2] / error[1], 0.35);
}

// A cantilever under a tip load PL^2/EI: Mattiasson's table of the elastica.
static void large_deflections_follow_the_elastica(void** state) {
  (void)state;
  const double load[2] = {2, 10}, down[2] = {0.49346, 0.81061}, back[2] = {0.16064, 0.55500};
  for (int i = 0; i < 2; ++i) {
    yw_rod_def def = straight_rod(31, YW_SECTION_ROUND);
    slender_case c;
    case_of(&c, rod_model_of(&def));
    double stiff = (double)def.youngs_modulus * stiffness_of(&def).about_x;
    c.held[0] = c.clamped[0] = true;
    for (int step = 1; step <= 8; ++step) {
      c.loads[6 * 30 + 1] = -load[i] * stiff * step / 8;
      case_solve(&c);
    }
    print_message("elastica PL^2/EI = %g, 31 particles: down %.4f (%.4f), back %.4f (%.4f)\n",
                  load[i], -c.pose.x[3 * 30 + 1], down[i], 1.0 - c.pose.x[3 * 30], back[i]);
    assert_near(-c.pose.x[3 * 30 + 1], down[i], 0.004);
    assert_near(1.0 - c.pose.x[3 * 30], back[i], 0.004);
    case_free(&c);
    free((void*)def.points);
  }
}

// A rotation of the clamped end is transmitted to the free one.
static void twist_is_passed_on(void** state) {
  (void)state;
  yw_rod_def def = straight_rod(31, YW_SECTION_RECTANGLE);
  slender_case c;
  case_of(&c, rod_model_of(&def));
  c.held[0] = c.clamped[0] = true;
  for (int quarter = 1; quarter <= 8; ++quarter) {
    const double turn[3] = {PI / 16 * quarter, 0, 0};
    c.pose.q[0] = yw_turn_exp(turn);
    case_solve(&c);
  }
  for (int p = 0; p < 31; ++p) {
    double turn[3];
    yw_turn_log(c.pose.q[p], turn);
    assert_near(turn[0] * 180 / PI, 90.0, 1e-6);
    assert_near(c.pose.x[3 * p + 1], 0.0, 1e-9);
  }
  case_free(&c);
  free((void*)def.points);
}

// Wire coil: k = G r^4 / (4 R^3 turns).
static void coil_has_the_rate_of_a_spring(void** state) {
  (void)state;
  const int per_turn = 24, turns = 5, n = per_turn * turns + 1;
  double coil = 0.02, wire = 0.001, pitch = 0.004;
  yw_vec3* points = malloc(sizeof(yw_vec3) * (size_t)n);
  for (int i = 0; i < n; ++i) {
    double angle = 2 * PI * i / per_turn;
    points[i] = (yw_vec3){(float)(coil * cos(angle)), (float)(pitch * i / per_turn),
                          (float)(coil * sin(angle))};
  }
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = n;
  def.radius = (float)wire;
  def.youngs_modulus = 2e11f;
  slender_case c;
  case_of(&c, rod_model_of(&def));
  double shear = 2e11 / 2 / (1 + (double)def.poissons_ratio);
  double rate = shear * pow(wire, 4) / (4 * pow(coil, 3) * turns), load = 0.001 * rate;
  c.held[0] = c.clamped[0] = c.clamped[n - 1] = true;
  double before = c.pose.x[3 * (n - 1) + 1];
  c.loads[6 * (n - 1) + 1] = load;
  case_solve(&c);
  double answer = (c.pose.x[3 * (n - 1) + 1] - before) * rate / load;
  print_message("coil, %d particles a turn: yields %+.2f %%\n", per_turn, 100 * (answer - 1.0));
  assert_near(answer, 1.0, 0.02);
  case_free(&c);
  free(points);
}

// A closed ring pulled at two ends of a diameter grows by 0.1488 P R^3 / EI (thin).
static double ring_answer(int n) {
  yw_vec3* points = malloc(sizeof(yw_vec3) * (size_t)n);
  for (int i = 0; i < n; ++i) {
    double angle = 2 * PI * i / n;
    points[i] = (yw_vec3){(float)(0.5 * cos(angle)), (float)(0.5 * sin(angle)), 0};
  }
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = n;
  def.closed = true;
  def.section = YW_SECTION_RECTANGLE;
  def.width = 0.02f;
  def.thickness = 0.005f;
  def.width_direction = (yw_vec3){0, 0, 1};
  slender_case c;
  case_of(&c, rod_model_of(&def));
  double stiff = 1e6 * 0.02 * pow(0.005, 3) / 12, load = 1e-3 * stiff;
  c.held[0] = c.clamped[0] = true;
  c.loads[6 * (n / 2)] = -load;
  case_solve(&c);
  double grown = -0.5 - c.pose.x[3 * (n / 2)];
  case_free(&c);
  free(points);
  return grown / (0.14878 * load * 0.125 / stiff);
}

static void ring_yields_as_a_ring(void** state) {
  (void)state;
  double coarse = ring_answer(48), fine = ring_answer(96);
  print_message("ring, 48, 96 particles: yields %+.2f, %+.2f %%\n", 100 * (coarse - 1),
                100 * (fine - 1));
  assert_near(coarse, 1.0, 0.015);
  assert_near(fine, 1.0, 0.004);
}

// Sheets ------------------------------------------------------------------------------------------

#define THICK 0.01

typedef struct plate {
  yw_tri_mesh mesh;
  yw_sheet_def def;
  slender_case c;
  int nx, nz;
} plate;

static void plate_make(plate* p, double a, double b, int nx, int nz, plate_cut cut, double nu) {
  p->mesh = plate_mesh(a, b, nx, nz, cut);
  p->def = yw_default_sheet_def();
  p->def.mesh = &p->mesh;
  p->def.thickness = (float)THICK;
  p->def.poissons_ratio = (float)nu;
  p->nx = nx;
  p->nz = nz;
  case_of(&p->c, sheet_model_of(&p->def));
}

static void plate_free(plate* p) {
  case_free(&p->c);
  yw_tri_mesh_free(&p->mesh);
}

static bool is_border(const plate* p, int v) {
  int i = v % (p->nx + 1), j = v / (p->nx + 1);
  return i == 0 || j == 0 || i == p->nx || j == p->nz;
}

static double energy_of(const slender_case* c) {
  double sum = 0.0;
  for (int e = 0; e < c->model->num_elements; ++e) {
    sum += yw_slender_energy(c->model, e, &c->pose, NULL, NULL, SLENDER_EXACT);
  }
  return sum;
}

// A uniformly strained border: the inside follows, and the energy is that of E and nu.
static void stretched_plate_has_young_and_poisson(void** state) {
  (void)state;
  const double poisson[3] = {0, 0.3, 0.45};
  for (int k = 0; k < 3; ++k) {
    plate p;
    plate_make(&p, 1, 1, 6, 5, PLATE_JITTERED, poisson[k]);
    double e = 1e-3, nu = (double)p.def.poissons_ratio;
    for (int v = 0; v < p.mesh.num_vertices; ++v) {
      if (!is_border(&p, v)) continue;
      p.c.held[v] = p.c.clamped[v] = true;
      p.c.pose.x[3 * v] *= 1 + e;
      p.c.pose.x[3 * v + 2] *= 1 - nu * e;
    }
    case_solve(&p.c);
    for (int v = 0; v < p.mesh.num_vertices; ++v) {
      assert_near(p.c.pose.x[3 * v], (1 + e) * (double)p.mesh.positions[v].x, 1e-9);
      assert_near(p.c.pose.x[3 * v + 2], (1 - nu * e) * (double)p.mesh.positions[v].z, 1e-9);
    }
    assert_near(energy_of(&p.c) / (0.5 * 1e6 * e * e * (double)p.def.thickness), 1.0, 1e-6);
    plate_free(&p);
  }
}

// E rises from 1 to 3 MPa across: the energy of a uniform strain or bend is that of the mean.
static void sheets_may_stiffen_across(void** state) {
  (void)state;
  plate p;
  plate_make(&p, 1, 1, 6, 5, PLATE_JITTERED, 0);
  float field[42];
  for (int v = 0; v < 42; ++v) field[v] = 1e6f * (1.0f + 2.0f * p.mesh.positions[v].x);
  case_free(&p.c);
  p.def.youngs_modulus_field = field;
  case_of(&p.c, sheet_model_of(&p.def));
  double e = 1e-3, t = (double)p.def.thickness;
  for (int v = 0; v < 42; ++v) p.c.pose.x[3 * v] *= 1 + e;
  assert_near(energy_of(&p.c) / (0.5 * 2e6 * e * e * t), 1.0, 1e-6);
  for (int v = 0; v < 42; ++v) {
    double x = (double)p.mesh.positions[v].x;
    const double turn[3] = {0, 0, 1e-6 * x};
    p.c.pose.x[3 * v] = x;
    p.c.pose.x[3 * v + 1] = 0.5e-6 * x * x;
    p.c.pose.q[v] = yw_turn_exp(turn);
  }
  assert_near(energy_of(&p.c) / (0.5 * 2e6 * t * t * t / 12 * 1e-12), 1.0, 1e-5);
  plate_free(&p);
}

// Borders bent to w = (kx x^2 + kz z^2)/2 + kt x z, with normals to match.
static void bent_plate_has_the_stiffness_of_plates(void** state) {
  (void)state;
  const double poisson[3] = {0, 0.3, 0.45};
  for (int k = 0; k < 9; ++k) {
    plate p;
    plate_make(&p, 1, 1, 6, 5, PLATE_JITTERED, poisson[k % 3]);
    double nu = (double)p.def.poissons_ratio, t = (double)p.def.thickness, s = 1e-6;
    double kx = k / 3 < 2 ? s : 0, kz = k / 3 == 1 ? -nu * s : 0, kt = k / 3 == 2 ? s : 0;
    for (int v = 0; v < p.mesh.num_vertices; ++v) {
      double x = (double)p.mesh.positions[v].x, z = (double)p.mesh.positions[v].z;
      if (!is_border(&p, v)) continue;
      p.c.held[v] = p.c.clamped[v] = true;
      p.c.pose.x[3 * v + 1] = 0.5 * (kx * x * x + kz * z * z) + kt * x * z;
      // The normal (-w_x, 1, -w_z) is y turned by (-w_z, 0, w_x).
      const double turn[3] = {-(kz * z + kt * x), 0, kx * x + kt * z};
      p.c.pose.q[v] = yw_turn_exp(turn);
    }
    case_solve(&p.c);
    double plate_d = 1e6 * t * t * t / 12 / (1 - nu * nu);
    double expected = 0.5 * plate_d * ((kx + kz) * (kx + kz) - 2 * (1 - nu) * (kx * kz - kt * kt));
    assert_near(energy_of(&p.c) / expected, 1.0, 1e-5);
    plate_free(&p);
  }
}

// Deflection at the centre of a square plate under uniform load over q a^4 / D.
static double centre_of_plate(int n, plate_cut cut, bool clamped) {
  plate p;
  plate_make(&p, 1, 1, n, n, cut, 0.3);
  double t = (double)p.def.thickness, nu = (double)p.def.poissons_ratio;
  double plate_d = 1e6 * t * t * t / 12 / (1 - nu * nu);
  for (int v = 0; v < p.mesh.num_vertices; ++v) {
    p.c.held[v] = is_border(&p, v);
    p.c.clamped[v] = clamped && p.c.held[v];
    p.c.loads[6 * v + 1] = 1e-4 * plate_d * (double)p.c.model->mass[v] / (1000 * t);
  }
  case_solve(&p.c);
  double w = p.c.pose.x[3 * (n / 2 + n / 2 * (n + 1)) + 1];
  plate_free(&p);
  return w / 1e-4;
}

static void loaded_plates_sag_as_in_the_books(void** state) {
  (void)state;
  // Timoshenko, Theory of Plates and Shells.
  const double book[2] = {0.0040624, 0.0012653};
  const double limit[2][2] = {{0.02, 0.012}, {0.03, 0.012}};
  for (int cut = 0; cut < 3; ++cut) {
    for (int clamped = 0; clamped < 2; ++clamped) {
      for (int i = 0; i < 2; ++i) {
        double answer = centre_of_plate(8 << i, (plate_cut)cut, clamped) / book[clamped];
        print_message("square plate, %s, cut %d, %d across: sags %+.2f %%\n",
                      clamped ? "clamped" : "supported", cut, 8 << i, 100 * (answer - 1));
        assert_near(answer, 1.0, limit[clamped][i]);
      }
    }
  }
}

// A narrow strip is a beam of E I; a wide clamped one has a stiffness of at most D.
static void cantilever_strip_is_a_beam(void** state) {
  (void)state;
  for (int cut = 0; cut < 3; ++cut) {
    plate p;
    int nx = 30, nz = 2;
    plate_make(&p, 1, 1.0 / 15, nx, nz, (plate_cut)cut, 0.3);
    double t = (double)p.def.thickness, stiff = 1e6 * t * t * t / 12 / 15, load = 1e-4 * stiff;
    for (int j = 0; j <= nz; ++j) {
      int root = j * (nx + 1);
      p.c.held[root] = p.c.clamped[root] = true;
      p.c.loads[6 * (root + nx) + 1] = load * (j == 0 || j == nz ? 0.25 : 0.5);
    }
    case_solve(&p.c);
    double answer = p.c.pose.x[3 * (2 * nx + 1) + 1] / (load / 3 / stiff);
    print_message("cantilever strip, cut %d: sags %+.2f %%\n", cut, 100 * (answer - 1));
    assert_near(answer, 1.0, 0.015);
    plate_free(&p);
  }
}

// A curved sheet is initially at rest.
static void curved_sheet_rests(void** state) {
  (void)state;
  yw_tri_mesh mesh = plate_mesh(1, 1, 8, 8, PLATE_MIRRORED);
  for (int v = 0; v < mesh.num_vertices; ++v) {
    double angle = (double)mesh.positions[v].x * 2;
    mesh.positions[v].x = (float)(0.5 * sin(angle));
    mesh.positions[v].y = (float)(0.5 * cos(angle));
  }
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = &mesh;
  slender_case c;
  case_of(&c, sheet_model_of(&def));
  assert_at_most(energy_of(&c), 1e-20);
  case_free(&c);
  yw_tri_mesh_free(&mesh);
}

static void unheld_body_has_no_equilibrium(void** state) {
  (void)state;
  yw_rod_def def = straight_rod(5, YW_SECTION_ROUND);
  slender_case c;
  case_of(&c, rod_model_of(&def));
  c.loads[1] = 1.0;
  yw_error error = {0};
  assert_int_equal(yw_slender_static(c.model, c.held, c.clamped, c.loads, 1e-9, &c.pose, &error),
                   YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "free to move"));
  // Held at two points it turns about the line through them, wherever that is.
  for (int p = 0; p < c.model->num_particles; ++p) c.pose.x[3 * p + 1] += 3.0;
  c.held[0] = c.held[c.model->num_particles - 1] = true;
  assert_int_equal(yw_slender_static(c.model, c.held, c.clamped, c.loads, 1e-9, &c.pose, &error),
                   YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "free to move"));
  case_free(&c);
  free((void*)def.points);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rods_have_ea_ei_and_gj),
      cmocka_unit_test(rods_may_stiffen_along_their_length),
      cmocka_unit_test(rod_error_falls_with_the_square),
      cmocka_unit_test(large_deflections_follow_the_elastica),
      cmocka_unit_test(twist_is_passed_on),
      cmocka_unit_test(coil_has_the_rate_of_a_spring),
      cmocka_unit_test(ring_yields_as_a_ring),
      cmocka_unit_test(stretched_plate_has_young_and_poisson),
      cmocka_unit_test(sheets_may_stiffen_across),
      cmocka_unit_test(bent_plate_has_the_stiffness_of_plates),
      cmocka_unit_test(loaded_plates_sag_as_in_the_books),
      cmocka_unit_test(cantilever_strip_is_a_beam),
      cmocka_unit_test(curved_sheet_rests),
      cmocka_unit_test(unheld_body_has_no_equilibrium),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
