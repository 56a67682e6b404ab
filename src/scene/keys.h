// SPDX-License-Identifier: MIT
// Typed reading of JSON objects, driven by tables. The tables are the single source for which keys
// exist, what they mean, and their units, ranges and defaults; schema and reference in docs/ are
// generated from them.
#ifndef YW_SCENE_KEYS_H
#define YW_SCENE_KEYS_H

#include "yawara/extend/error.h"
#include "yawara/extend/json.h"
#include "yawara/extend/text.h"
#include "yawara/scene.h"

typedef enum yw_key_kind {
  YW_KEY_BOOL,      ///< bool
  YW_KEY_NUMBER,    ///< float
  YW_KEY_INTEGER,   ///< int32_t
  YW_KEY_TEXT,      ///< const char*, owned by the document
  YW_KEY_VEC3,      ///< yw_vec3: a list of 3 numbers
  YW_KEY_SIZE,      ///< yw_vec3: one number, or a list of 3
  YW_KEY_COUNTS,    ///< int32_t[3]: one integer, or a list of 3
  YW_KEY_AXIS,      ///< yw_vec3, not zero: "x", "y", "z" or a list of 3 numbers
  YW_KEY_ROTATION,  ///< yw_quat: {axis, degrees}, a list of those, or a quaternion [x, y, z, w]
  YW_KEY_COLOR,     ///< yw_vec3, linear: "#rrggbb" (sRGB) or 3 linear numbers
  YW_KEY_CHOICE,    ///< int32_t: index of the word in choices
  YW_KEY_NODE       ///< const yw_json*: read by code; NULL when the key is missing
} yw_key_kind;

typedef struct yw_key_row {
  const char* name;
  yw_key_kind kind;
  size_t offset;               ///< in the struct that the record fills
  double low, high;            ///< of every number in the value
  bool open;                   ///< low itself is not allowed
  const char* const* choices;  ///< NULL-terminated, with YW_KEY_CHOICE
  bool of_model;      ///< in settings of a method: defines the model, not allowed in bodies
  const char* unit;   ///< of the numbers; "" for none
  const char* about;  ///< what it means, in a sentence
  /// With YW_KEY_NODE: allowed values, separated by |: a record or a type of the schema, [a list
  /// of it], {an object of it, under any names}, 'a word.
  const char* what;
} yw_key_row;

/// A JSON object with a fixed set of keys.
typedef struct yw_record {
  const char* name;  ///< under $defs in the schema; "scene" is its root
  const yw_key_row* keys;
  int32_t num_keys;
  const void* defaults;  ///< of the struct
  size_t size;           ///< of the struct
  bool with_methods;     ///< keys of methods (scene/method.h) are allowed too
  const char* about;     ///< what it is, in a sentence
  /// For the schema, separated by ;: "needs a b", "one a b" (exactly one), "any a b", "not a b"
  /// (not both).
  const char* rules;
} yw_record;

// Rows for keys with the name of the member they fill, or with another name (_AS).
#define YW_ROW(key, type, member, number_kind, from, to, above, model, of, text)                  \
  {                                                                                               \
    .name = (key), .kind = YW_KEY_##number_kind, .offset = offsetof(type, member), .low = (from), \
    .high = (to), .open = (above), .of_model = (model), .unit = (of), .about = (text)             \
  }
#define YW_KEY(type, member, kind, low, high, unit, about) \
  YW_ROW(#member, type, member, kind, low, high, false, false, unit, about)
#define YW_KEY_AS(key, type, member, kind, low, high, unit, about) \
  YW_ROW(key, type, member, kind, low, high, false, false, unit, about)
#define YW_KEY_ABOVE(type, member, kind, low, high, unit, about) \
  YW_ROW(#member, type, member, kind, low, high, true, false, unit, about)
#define YW_KEY_ABOVE_AS(key, type, member, kind, low, high, unit, about) \
  YW_ROW(key, type, member, kind, low, high, true, false, unit, about)
// Values that code reads.
#define YW_NODE_ROW(key, type, member, model, value, text)                            \
  {                                                                                   \
    .name = (key), .kind = YW_KEY_NODE, .offset = offsetof(type, member), .unit = "", \
    .of_model = (model), .what = (value), .about = (text)                             \
  }
#define YW_NODE(type, member, what, about) YW_NODE_ROW(#member, type, member, false, what, about)
#define YW_NODE_AS(key, type, member, what, about) \
  YW_NODE_ROW(key, type, member, false, what, about)
// Words.
#define YW_CHOICE_ROW(key, type, member, model, words, text)                            \
  {                                                                                     \
    .name = (key), .kind = YW_KEY_CHOICE, .offset = offsetof(type, member), .unit = "", \
    .of_model = (model), .choices = (words), .about = (text)                            \
  }
#define YW_CHOICE(type, member, words, about) \
  YW_CHOICE_ROW(#member, type, member, false, words, about)
// The same in the settings of a method, for keys that define the model ...
#define YW_MODEL_FIELD(type, member, kind, low, high, unit, about) \
  YW_ROW(#member, type, member, kind, low, high, false, true, unit, about)
#define YW_MODEL_FIELD_ABOVE(type, member, kind, low, high, unit, about) \
  YW_ROW(#member, type, member, kind, low, high, true, true, unit, about)
#define YW_MODEL_NODE(type, member, what, about) \
  YW_NODE_ROW(#member, type, member, true, what, about)
#define YW_MODEL_CHOICE(type, member, words, about) \
  YW_CHOICE_ROW(#member, type, member, true, words, about)
// ... and for members of its struct `params`, which bodies can change.
#define YW_PARAM(type, member, kind, low, high, unit, about) \
  YW_ROW(#member, type, params.member, kind, low, high, false, false, unit, about)
#define YW_PARAM_CHOICE(type, member, words, about) \
  YW_CHOICE_ROW(#member, type, params.member, false, words, about)

#define YW_RECORD_ROW(title, table, values, methods, text, laws)                               \
  {                                                                                            \
    .name = (title), .keys = (table), .num_keys = (int32_t)(sizeof(table) / sizeof *(table)),  \
    .defaults = &(values), .size = sizeof(values), .with_methods = (methods), .about = (text), \
    .rules = (laws)                                                                            \
  }
#define YW_RECORD(name, table, defaults, about, rules) \
  YW_RECORD_ROW(name, table, defaults, false, about, rules)
#define YW_RECORD_WITH_METHODS(name, table, defaults, about, rules) \
  YW_RECORD_ROW(name, table, defaults, true, about, rules)

/// State of reading a scene. Functions that return bool leave a message in error when false.
typedef struct yw_reader_ctx {
  const yw_allocator* mem;
  const char* file;
  yw_json_doc* doc;
  const yw_scene_override* overrides;
  yw_error* error;
  yw_error* warning;  ///< one line per warning; may be NULL
} yw_reader_ctx;

/// Fails with "file:line:col: " (or "--set path: ") and the message. Always false.
bool yw_place_fail(yw_reader_ctx* r, const yw_json* node, yw_status status, const char* format, ...)
    YW_PRINTF(4, 5);
/// The same with the path of the node before the message: "... bodies[0].mass is 3, but ...".
bool yw_value_fail(yw_reader_ctx* r, const yw_json* node, const char* format, ...) YW_PRINTF(3, 4);
/// Prefixes the message of a deeper layer with place and path. Always false.
bool yw_deep_fail(yw_reader_ctx* r, const yw_json* node, const yw_error* deep);
bool yw_memory_fail(yw_reader_ctx* r);
/// Adds a line to the warnings: place, path and the message.
void yw_value_warn(yw_reader_ctx* r, const yw_json* node, const char* format, ...) YW_PRINTF(3, 4);

/// "... is a number, but must be <expected>". Always false.
bool yw_type_fail(yw_reader_ctx* r, const yw_json* node, const char* expected);
bool yw_is_type(yw_reader_ctx* r, const yw_json* node, yw_json_type type);
bool yw_read_number(yw_reader_ctx* r, const yw_json* node, double low, double high, bool open,
                    float* out);
bool yw_read_integer(yw_reader_ctx* r, const yw_json* node, double low, double high, int32_t* out);
bool yw_read_vec3(yw_reader_ctx* r, const yw_json* node, double low, double high, yw_vec3* out);
bool yw_read_color(yw_reader_ctx* r, const yw_json* node, yw_vec3* out);

/// Fills the struct with the record's defaults, then the object's values. Unknown keys are errors.
bool yw_read_record(yw_reader_ctx* r, const yw_json* node, const yw_record* record, void* out);
/// Overwrites members of the struct with the object's values; skips of_model keys.
bool yw_overlay_record(yw_reader_ctx* r, const yw_json* node, const yw_record* record, void* out);
/// True when exactly one of the keys exists; otherwise a message that names them ("a", "b" or "c").
/// *which is its index.
bool yw_exactly_one(yw_reader_ctx* r, const yw_json* object, int32_t count, const char* const* keys,
                    int32_t* which);
bool yw_not_both(yw_reader_ctx* r, const yw_json* object, const char* a, const char* b);
/// False with a message when the key is missing.
bool yw_needs(yw_reader_ctx* r, const yw_json* object, const char* key);

#endif
