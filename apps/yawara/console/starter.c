// SPDX-License-Identifier: MIT
#include "console/starter.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "console/presets.h"
#include "console/stance.h"
#include "console/thin_parts.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define GRAVITY 9.81f
// The drop, as a share of the body's height; less for what would topple.
#define DROP 0.12f
// match has Poisson's ratio 0. In other methods a floor that holds the foot of a body also keeps it
// from sagging, so match is made stiffer by what they sag less (scripts/measure_words.py).
#define MATCH_STIFFNESS 1.2
// Legs thinner than this share of the longest side are a tet thick, and their ankles give way in
// match: with so many times the stiffness the cow (0.023) droops as in fem, and its hooves stay
// flat.
#define MATCH_LEGS 1.7
#define THIN_LEGS 0.04f
// Of plastic bodies: particles that are affordable, and their distances as shares of the longest
// side.
#define MOST_PARTICLES 5000.0f
#define USUAL_SPACING (1.0f / 24.0f)
#define FINEST_SPACING (1.0f / 100.0f)
// What needs this much stiffness to keep its centre above its feet stands on two legs, and gets so
// many times that. Where that is more than the word's own stiffness, it is put down gently. The
// armadillo stands from 0.01 of its height with 12, and falls with 6, or from 0.06 with 6 to 14.
#define TWO_LEGS 30.0f
#define LEANS 15.0f
#define GENTLE_DROP 0.01f
// What does not stand, whatever it is made of, needs less: so much that it falls as a whole.
#define FALLING 300.0f
// Legs are legs where a body needs at least this stance. Thinner than so many particles they have
// no resistance to bending.
#define LEGS 10.0f
#define LEG_PARTICLES 2.0f
// Of the volume, thinner than so many particles: ears that fold, handles that break off. Bunny,
// teapot, armadillo and cow have 1 to 2 %, spot 0.01 %.
#define THIN_SHARE 0.005f
#define THIN_PARTICLES 1.5f
// Openness (stance.h) of a dish a third as deep as its radius: what is flatter is a sheet.
#define MOST_OPEN 0.9f
// Share of the mass that moves to small tets of fem, which thin legs have many of; more where what
// yields hardly vibrates.
#define LEG_MASS 0.02
#define DULL_LEG_MASS 0.05
// What yields bears this many times its own weight.
#define YIELD_LOADS 3.0f
// Of cloth: particles that are affordable, thickness as a share of the longest side, and area of a
// particle over the square of the edges.
#define CLOTH_PARTICLES 1200.0f
#define CLOTH_THICKNESS 0.004f
#define CLOTH_AREA 0.866f
// A closed model is an empty skin, which crumples to a heap that nobody recognises unless it is so
// many times as stiff: spot, the armadillo and the bunny sink down, and stay what they are.
// Openness of a box that lacks one of its faces: 0.2.
#define SKIN_STIFFNESS 10.0f
#define MOST_CLOSED 0.25f
// Sizes of bodies that --unit may give, and beyond which a model was probably made in another unit,
// m.
#define MIN_LENGTH 1e-4f
#define MAX_LENGTH 1e4f
#define LARGE 50.0f
#define SMALL 0.005f
#define MAX_PARTS 200

static const char* const surfaces[] = {".obj", ".ply", ".stl", ".gltf", ".glb"};
static const char* const volumes[] = {".node", ".ele",  ".msh",   ".vtk",
                                      ".vtu",  ".mesh", ".meshb", ".inp"};

static bool ends_with_any(const char* path, const char* const* endings, size_t count) {
  size_t length = strlen(path);
  for (size_t i = 0; i < count; ++i) {
    size_t end = strlen(endings[i]);
    if (length > end && strcasecmp(path + length - end, endings[i]) == 0) return true;
  }
  return false;
}

static bool is_volume(const char* path) {
  return ends_with_any(path, volumes, sizeof volumes / sizeof volumes[0]);
}

bool starter_is_model(const char* path) {
  return is_volume(path) || ends_with_any(path, surfaces, sizeof surfaces / sizeof surfaces[0]);
}

bool starter_is_asked(const starter_options* o) {
  return o->as || o->method || o->fit > 0 || o->file.unit || o->file.up || o->parts;
}

// What the text is made of ------------------------------------------------------------------------

typedef struct starter {
  const preset* what;
  char method[16];
  char name[64];     // of the body
  const char* file;  // NULL: a ball
  bool volume;       // the file has tets
  float length;      // m, longest side
  float scale;       // of the file's coordinates
  yw_vec3 center;    // of the file's box
  float height;      // m
  float flat;        // shortest side over the longest
  float drop;        // m, of its lowest point above the floor
  float stiffness;   // Young's modulus over density, gravity and length
  float yield;       // strain at which it yields; 0: elastic
  bool legs;         // it stands on thin ones
  bool frail;        // they are one tet thick
  bool thin;         // it has parts too thin for particles
  float spacing;     // m, of particles; 0: the default
  float edge;        // m, of the triangles of a sheet
  bool skin;         // the sheet is closed, or nearly
  bool turned;       // z points up in the file
  int32_t parts;     // bodies, one for each part; 0: one body of all
} starter;

static int choose_method(const starter_options* o, starter* s) {
  const char* hint = "";
  const char* word = o->as ? o->as : "rubber";
  s->what = preset_by_word(word, &hint);
  if (!s->what) {
    return bad_input("--as is \"%s\", but must be jelly, rubber, foam, toy, clay, cloth or steel%s",
                     word, hint);
  }
  if (o->method && !preset_has_method(s->what, o->method)) {
    return bad_input("--method is \"%s\", but %s can be: %s", o->method, word, s->what->methods);
  }
  preset_default_method(s->what, s->method, sizeof s->method);
  if (o->method) snprintf(s->method, sizeof s->method, "%s", o->method);
  // A sheet is the boundary of the tets, read as a surface.
  if (strcmp(s->method, "slender") == 0) s->volume = false;
  return -1;
}

// How large the file's model is meant to be, m. Says so where that is unlikely.
static int choose_length(const starter_options* o, const char* path, float longest, float* length) {
  float own = longest * model_options_metres(&o->file);
  if (o->file.unit && (own < MIN_LENGTH || own > MAX_LENGTH)) {
    return bad_input("%s: is %.5g m large in %s, but must be between %g and %g m", path,
                     (double)own, o->file.unit, (double)MIN_LENGTH, (double)MAX_LENGTH);
  }
  if (o->file.unit) *length = own;
  bool odd = own >= LARGE || own <= SMALL;
  if (odd && o->file.unit) {
    fprintf(stderr, "%s is %.5g m large in %s\n", path, (double)own, o->file.unit);
  } else if (odd && !(o->fit > 0)) {
    fprintf(stderr,
            "%s is %.5g m large as it stands and is scaled to %g m; its own size: --unit mm "
            "(%.3g m), cm (%.3g m), m or inch (%.3g m)\n",
            path, (double)own, (double)*length, 1e-3 * (double)own, 1e-2 * (double)own,
            0.0254 * (double)own);
  }
  return -1;
}

// The box of what the file's elements are made of; other points do not count.
static yw_status box_of_file(const char* path, bool volume, yw_aabb* box, yw_error* error) {
  yw_tet_mesh tets = {0};
  yw_tri_mesh surface = {0};
  yw_status status = volume ? yw_tet_mesh_read(path, NULL, &tets, error)
                            : yw_tri_mesh_read(path, NULL, &surface, error);
  *box = yw_aabb_empty();
  for (size_t n = 0; n < 4 * (size_t)tets.num_tets; ++n) {
    *box = yw_aabb_grow(*box, tets.positions[tets.tets[n]]);
  }
  for (size_t n = 0; n < 3 * (size_t)surface.num_triangles; ++n) {
    *box = yw_aabb_grow(*box, surface.positions[surface.triangles[n]]);
  }
  yw_tet_mesh_free(&tets);
  yw_tri_mesh_free(&surface);
  return status;
}

// Box of the file, from which scale, place and height follow.
static int measure_file(const starter_options* o, const char* path, starter* s) {
  yw_error error = {0};
  yw_aabb box;
  if (box_of_file(path, s->volume, &box, &error) < 0) return bad_input("%s", error.message);
  yw_vec3 size = yw_sub(box.upper, box.lower);
  float longest = fmaxf(size.x, fmaxf(size.y, size.z));
  if (!(longest > 0.0f) || !isfinite(longest)) {
    return bad_input("%s: has no extent: all its vertices are at one point", path);
  }
  int code = choose_length(o, path, longest, &s->length);
  if (code >= 0) return code;
  s->scale = s->length / longest;
  s->center = yw_lerp(box.lower, box.upper, 0.5f);
  s->height = (s->turned ? size.z : size.y) * s->scale;
  s->flat = fminf(size.x, fminf(size.y, size.z)) / longest;
  s->drop = DROP * s->height;
  return -1;
}

// What is too thin for particles folds or breaks off: such models are made of fem, unless particles
// were asked for.
static void hold_thin_parts(const starter_options* o, const char* path, float spacing,
                            const stance* legs, starter* s) {
  bool thin_legs = s->legs && legs->thickness < LEG_PARTICLES * spacing;
  float share = thin_legs ? 0.0f : thin_share_of_file(path, s->volume, THIN_PARTICLES * spacing);
  // A plate is a layer of particles.
  s->thin = share > THIN_SHARE && s->flat > THIN_PARTICLES * spacing;
  if (!thin_legs && !s->thin) return;
  const char* what =
      o->method ? ": they will fold; --method fem holds them" : ": fem is taken instead";
  double apart = (double)(spacing * s->length);
  if (thin_legs) {
    fprintf(stderr, "%s: legs %.2g m thick are too thin for particles of plastic, %.2g m apart%s\n",
            path, (double)(legs->thickness * s->length), apart, what);
    // What folds anyway needs neither the stiffness, which makes steps short, nor the strength.
    if (o->method) s->stiffness = s->what->stiffness, s->yield = s->what->yield;
  } else {
    fprintf(stderr,
            "%s: parts with %.2g %% of the volume are too thin for particles of plastic, %.2g m "
            "apart%s\n",
            path, 100.0 * (double)share, apart, what);
  }
  if (!o->method) snprintf(s->method, sizeof s->method, "fem");
}

// What thin legs ask for: more stiffness and strength than the word's, and small particles. What is
// nearly flat encloses nothing that could be filled.
static int fit_legs(const starter_options* o, const char* path, starter* s) {
  s->stiffness = s->what->stiffness;
  s->yield = s->what->yield;
  if (s->skin) s->stiffness *= SKIN_STIFFNESS;
  if (!s->file || !(s->what->hold > 0.0f)) return -1;
  stance legs = stance_of_file(path, s->volume, s->turned ? 2 : 1);
  if (legs.open > MOST_OPEN) {
    return bad_input(
        "%s: the surface is open, with hardly anything behind it: --as cloth makes a sheet of it",
        path);
  }
  float held = legs.falls ? fminf(legs.stiffness, FALLING) : legs.stiffness;
  s->stiffness = fmaxf(s->stiffness, s->what->hold * held);
  if (!legs.falls && legs.lean > TWO_LEGS && s->stiffness < LEANS * legs.lean) {
    s->stiffness = LEANS * legs.lean;
    s->drop = fminf(s->drop, GENTLE_DROP * s->height);
  }
  s->legs = legs.stiffness > LEGS;
  s->frail = s->legs && legs.thickness < THIN_LEGS;
  if (legs.drop > 0.0f) s->drop = fminf(s->drop, legs.drop * s->length);
  if (s->yield > 0.0f) s->yield = fmaxf(s->yield, YIELD_LOADS * legs.stress / s->stiffness);
  // As many particles as are affordable, so that thin parts have some.
  float spacing = USUAL_SPACING;
  while (legs.volume < MOST_PARTICLES * spacing * spacing * spacing && spacing > FINEST_SPACING) {
    spacing *= 0.98f;
  }
  if (legs.volume > 0.0f && spacing < USUAL_SPACING) s->spacing = spacing * s->length;
  if (strcmp(s->method, "plastic") == 0) hold_thin_parts(o, path, spacing, &legs, s);
  return -1;
}

// Triangles of a sheet are as small as its area allows. Also finds out whether it is closed.
static int choose_edge(const char* path, starter* s) {
  float area = 3.14159265f * s->length * s->length;
  if (s->file) {
    yw_error error = {0};
    yw_tri_mesh mesh = {0};
    double sum = 0.0;
    yw_vec3 all = yw_v3(0, 0, 0);
    if (yw_tri_mesh_read(path, NULL, &mesh, &error) < 0) return bad_input("%s", error.message);
    for (int32_t t = 0; t < mesh.num_triangles; ++t) {
      const int32_t* v = mesh.triangles + 3 * (size_t)t;
      yw_vec3 a = mesh.positions[v[0]];
      yw_vec3 b = yw_sub(mesh.positions[v[1]], a), c = yw_sub(mesh.positions[v[2]], a);
      yw_vec3 normal = yw_cross(b, c);
      sum += 0.5 * (double)yw_length(normal);
      all = yw_mad(all, 0.5f, normal);
    }
    s->skin = (double)yw_length(all) < (double)MOST_CLOSED * sum;
    yw_tri_mesh_free(&mesh);
    area = (float)sum * s->scale * s->scale;
    if (!(area > 0.0f)) return bad_input("%s: has no area", path);
  }
  s->edge = sqrtf(area / (CLOTH_AREA * CLOTH_PARTICLES));
  return -1;
}

static int count_parts(const char* path, starter* s) {
  if (s->volume) return bad_input("--parts is for surfaces, but %s has tets", path);
  yw_error error = {0};
  yw_tri_mesh mesh = {0}, *parts = NULL;
  yw_status status = yw_tri_mesh_read(path, NULL, &mesh, &error);
  if (status < 0) return bad_input("%s", error.message);
  status = yw_tri_mesh_split(&mesh, NULL, &parts, &s->parts);
  for (int32_t i = 0; i < s->parts; ++i) yw_tri_mesh_free(&parts[i]);
  yw_mem_free(NULL, parts);
  yw_tri_mesh_free(&mesh);
  if (status < 0) return bad_input("%s: cannot be split into parts", path);
  if (s->parts > MAX_PARTS) {
    return bad_input("%s: has %d parts, but --parts makes at most %d bodies", path, s->parts,
                     MAX_PARTS);
  }
  return -1;
}

// File name without folder and ending; characters that a name may not have become "_".
static void name_body(const char* file, char out[64]) {
  const char* slash = strrchr(file, '/');
  const char* begin = slash ? slash + 1 : file;
  const char* dot = strrchr(begin, '.');
  size_t length = dot && dot > begin ? (size_t)(dot - begin) : strlen(begin);
  if (length > 63) length = 63;
  for (size_t i = 0; i < length; ++i) {
    unsigned char c = (unsigned char)begin[i];
    out[i] = c < 0x20 || c == '"' || c == '\\' ? '_' : begin[i];
  }
  out[length] = '\0';
}

// Text --------------------------------------------------------------------------------------------

typedef YW_LIST(char) text_list;

static bool put(text_list* out, const char* format, ...) __attribute__((format(printf, 2, 3)));
static bool put(text_list* out, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char piece[4096];
  int length = vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  if (length < 0 || length >= (int)sizeof piece || !YW_LIST_RESERVE(NULL, out, length + 1)) {
    return false;
  }
  memcpy(out->items + out->count, piece, (size_t)length + 1);
  out->count += length;
  return true;
}

// A file name as a JSON string.
static bool put_quoted(text_list* out, const char* text) {
  bool done = put(out, "\"");
  for (const char* c = text; *c && done; ++c) {
    bool escaped = *c == '"' || *c == '\\';
    done = (unsigned char)*c < 0x20 ? put(out, "\\u%04x", (unsigned)*c)
                                    : put(out, "%s%c", escaped ? "\\" : "", *c);
  }
  return done && put(out, "\"");
}

// A part keeps its place among the others, so it is scaled and not fitted.
static bool put_part(text_list* out, const starter* s, int32_t part) {
  return put(out, "      \"shape\": { \"mesh\": { \"file\": ") && put_quoted(out, s->file) &&
         put(out, ", \"part\": %d }, \"scale\": %.9g }", part, (double)s->scale);
}

static bool put_source(text_list* out, const starter* s, int32_t part) {
  bool sheet = strcmp(s->method, "slender") == 0;
  if (s->volume) {
    return put(out,
               "      // Tets, scaled to a longest side of %g m.\n      \"mesh\": { \"file\": ",
               (double)s->length) &&
           put_quoted(out, s->file) && put(out, ", \"scale\": %.9g },\n", (double)s->scale);
  }
  if (sheet && !put(out,
                    "      // The surface as a sheet with triangles of \"size\" m.\n"
                    "      \"sheet\": {\n        \"size\": %.3g, \"thickness\": %g,\n  ",
                    (double)s->edge, (double)(CLOTH_THICKNESS * s->length))) {
    return false;
  }
  bool done = part > 0 ? put_part(out, s, part)
              : s->file
                  ? put(out,
                        "      // \"fit\": longest side, m. The model is centred.\n%s"
                        "      \"shape\": { \"mesh\": { \"file\": ",
                        sheet ? "  " : "") &&
                        put_quoted(out, s->file) && put(out, ", \"fit\": %g } }", (double)s->length)
                  : put(out, "      \"shape\": { \"sphere\": { \"radius\": %g } }",
                        0.5 * (double)s->length);
  return done && put(out, sheet ? "\n      },\n" : ",\n");
}

// The parameters of the method that make the word.
static bool put_method(text_list* out, const starter* s) {
  const preset* p = s->what;
  double length = (double)s->length, rate = sqrt((double)GRAVITY / length);
  double stiffness = (double)s->stiffness;
  double modulus = stiffness * (double)p->density * (double)GRAVITY * length;
  double damping = (double)p->damping * rate;
  const char* m = s->method;
  if (strcmp(m, "match") == 0) {
    double firmer = MATCH_STIFFNESS * (s->frail ? MATCH_LEGS : 1.0);
    return put(
        out,
        "      // Stiffness in Pa: %.3g times what its weight asks for. damping: of what is\n"
        "      // not rigid motion, 1/s.\n"
        "      \"match\": { \"youngs_modulus\": %.3g, \"damping\": %.3g }\n",
        firmer * stiffness, firmer * modulus, (double)p->match_damping * damping);
  }
  if (!put(out,
           "      // Stiffness in Pa: %.3g times what its weight asks for.\n      \"%s\": { "
           "\"youngs_modulus\": %.3g, \"poissons_ratio\": %.2g",
           stiffness, m, modulus, (double)p->poissons_ratio)) {
    return false;
  }
  if (strcmp(m, "plastic") == 0) {
    if (s->spacing > 0 && !put(out, ", \"spacing\": %.3g", (double)s->spacing)) return false;
    return s->yield > 0 ? put(out, ", \"yield_stress\": %.3g }\n", (double)s->yield * modulus)
                        : put(out, ", \"flow\": \"elastic\" }\n");
  }
  if (strcmp(m, "fem") == 0) {
    // Tets of a file are fine enough; those of a surface are subdivided as far as time allows.
    return put(out, ", \"mass_damping\": %.3g%s", (double)p->fem_damping * damping,
               s->volume ? ", \"max_level\": 1" : "") &&
           (!(s->legs || s->thin) ||
            put(out, ", \"mass_scaling\": %.3g", s->yield > 0 ? DULL_LEG_MASS : LEG_MASS)) &&
           (s->yield <= 0 || put(out, ", \"yield\": %.3g, \"creep\": 100", (double)s->yield)) &&
           put(out, " }\n");
  }
  // Sheets that crumple take implicit solvers several times as long.
  const char* solver = strcmp(m, "slender") == 0                ? ", \"solver\": \"extended\""
                       : strcmp(m, "frames") == 0 && p->lasting ? ", \"solver\": \"bdf2\""
                                                                : "";
  return put(out, ", \"damping\": %.3g%s }\n", damping, solver);
}

// One body; `part` 0: all of the file.
static bool put_body(text_list* out, const starter* s, int32_t part) {
  // The box is centred at the body's position, except for tets and parts, which keep their origin.
  yw_vec3 place = yw_v3(0, 0.5f * s->height + s->drop, 0), center = s->center;
  if (s->turned) center = yw_v3(center.x, center.z, -center.y);
  if (s->volume || part > 0) place = yw_mad(place, -s->scale, center);
  char number[16] = "";
  if (part > 0) snprintf(number, sizeof number, "_%d", part);
  const float* c = s->what->color;
  return put(out, "    {\n      \"name\": \"%s%s\",\n", s->name, number) &&
         put_source(out, s, part) &&
         put(out,
             "      // The lowest point starts at %.2g of the height.\n"
             "      \"position\": [%.6g, %.6g, %.6g],\n",
             (double)(s->drop / s->height), (double)place.x, (double)place.y, (double)place.z) &&
         (!s->turned || put(out,
                            "      \"rotation\": { \"axis\": \"x\", \"degrees\": -90 },  // z "
                            "points up in the file\n")) &&
         (part > 0 ||
          put(out, "      \"color\": [%g, %g, %g],\n", (double)c[0], (double)c[1], (double)c[2])) &&
         put(out, "      \"density\": %g,\n", (double)s->what->density) &&
         (s->edge <= 0 ||
          put(out, "      \"self_contact\": true,  // folds lie on each other\n")) &&
         put_method(out, s) && put(out, part > 0 && part < s->parts ? "    },\n" : "    }\n");
}

static bool put_scene(text_list* out, const starter* s) {
  bool done =
      put(out,
          "// Made by yawara. What each key means: docs/scenes.md, or yawara schema --keys.\n{\n"
          "  \"description\": \"%s of %s falls on a floor\",\n  \"duration\": 3,\n"
          "  \"substeps\": 4,  // per frame; more if something flies apart\n"
          "  \"floor\": { \"friction\": 0.6 },\n  \"bodies\": [\n",
          s->name, s->what->word);
  if (s->parts == 0) done = done && put_body(out, s, 0);
  for (int32_t part = 1; part <= s->parts; ++part) done = done && put_body(out, s, part);
  return done && put(out, "  ]\n}\n");
}

int starter_text(const starter_options* options, const char* path, const char* file, char** text) {
  *text = NULL;
  starter s = {.file = file, .length = options->fit > 0 ? options->fit : 1.0f};
  s.height = s.length;
  s.drop = DROP * s.height;
  s.volume = file && is_volume(file);
  s.turned = model_options_turned(&options->file);
  name_body(file ? file : "ball", s.name);
  int code = model_options_check(&options->file);
  if (code < 0 && options->file.unit && options->fit > 0) {
    code = bad_input("--fit and --unit both say how large the model is; give one of them");
  }
  if (code < 0) code = choose_method(options, &s);
  if (code < 0 && file) code = measure_file(options, path, &s);
  if (code < 0 && file && options->parts) code = count_parts(path, &s);
  if (code < 0 && strcmp(s.method, "slender") == 0) code = choose_edge(path, &s);
  if (code < 0) code = fit_legs(options, path, &s);
  if (code >= 0) return code;
  text_list out = {0};
  if (!put_scene(&out, &s)) {
    YW_LIST_FREE(NULL, &out);
    return bad_input("%s: not enough memory, or its name is too long", path ? path : "ball");
  }
  *text = out.items;
  return -1;
}
