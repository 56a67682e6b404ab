// SPDX-License-Identifier: MIT
// Sweeps of a wedge: lists and ranges of values, and the runs made of them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/wedge.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text_number.h"

typedef struct range {
  double low, high;
  int32_t count;  ///< 0: not given
  bool log;
} range;

// Values ------------------------------------------------------------------------------------------

static int make_room(wedge_sweep* sweep, int32_t count) {
  sweep->values = yw_mem_alloc(NULL, (size_t)count, sizeof *sweep->values);
  if (!sweep->values) return bad_input("not enough memory for %d values", count);
  sweep->count = count;
  return -1;
}

// Floats, as in scenes: they have the shortest texts.
static void put_value(wedge_sweep* sweep, int32_t i, const range* r, double share) {
  double value =
      r->log ? r->low * pow(r->high / r->low, share) : r->low * (1.0 - share) + r->high * share;
  char text[YW_NUMBER_TEXT];
  yw_format_float((float)value, text);
  snprintf(sweep->values[i], sizeof sweep->values[i], "%s", text);
}

static int spread_evenly(wedge_sweep* sweep, const range* r) {
  int code = make_room(sweep, r->count);
  for (int32_t i = 0; code < 0 && i < r->count; ++i) put_value(sweep, i, r, i / (r->count - 1.0));
  sweep->highest = r->count - 1;
  return code;
}

// A number in [0, 1) that depends on nothing but the arguments.
static double random_share(uint64_t seed, int32_t dimension, int32_t i) {
  uint64_t bits =
      yw_hash_u64(yw_hash_u64(yw_hash_u64(YW_HASH_SEED, seed), (uint64_t)dimension), (uint64_t)i);
  return (double)(bits >> 11) * 0x1p-53;
}

// Latin hypercube: each of `samples` equal parts of the range has one sample, in random order.
static int spread_latin(wedge_sweep* sweep, const range* r, int32_t samples, int32_t seed,
                        int32_t dimension) {
  int32_t* parts = YW_NEW_ARRAY(NULL, int32_t, samples);
  if (!parts) return bad_input("not enough memory for %d samples", samples);
  for (int32_t i = 0; i < samples; ++i) {
    int32_t k = (int32_t)(random_share((uint64_t)seed, 2 * dimension, i) * (i + 1.0));
    parts[i] = parts[k];
    parts[k] = i;
  }
  int code = make_room(sweep, samples);
  for (int32_t i = 0; code < 0 && i < samples; ++i) {
    double within = random_share((uint64_t)seed, 2 * dimension + 1, i);
    put_value(sweep, i, r, (parts[i] + within) / samples);
    if (parts[i] == 0) sweep->lowest = i;
    if (parts[i] == samples - 1) sweep->highest = i;
  }
  yw_mem_free(NULL, parts);
  return code;
}

// Texts -------------------------------------------------------------------------------------------

static bool number_is(const char* at, const char* end, double* out) {
  return yw_parse_double(at, end, out) == end && isfinite(*out);
}

// A range starts with a number and two dots; "../mesh.obj" is none.
static bool looks_like_range(const char* text) {
  const char* dots = strstr(text, "..");
  double low;
  return dots && number_is(text, dots, &low);
}

// "a..b", "a..b:n" or "a..b:n:log"; with --latin also "a..b:log".
static int read_range(const char* path, const char* text, range* out) {
  const char* high = strstr(text, "..") + 2;
  const char* end = high + strcspn(high, ":");
  *out = (range){0};
  bool good = number_is(text, high - 2, &out->low) && number_is(high, end, &out->high);
  if (good && *end == ':' && end[1] >= '0' && end[1] <= '9') {
    int64_t count = 0;
    end = yw_parse_int(end + 1, end + strlen(end), &count);
    good = end && count > 1 && count <= WEDGE_MAX_RUNS;
    out->count = good ? (int32_t)count : 0;
  }
  if (good && strcmp(end, ":log") == 0) {
    out->log = true;
    end += 4;
  }
  if (!good || *end) {
    return bad_input(
        "--sweep %s=%s: a range is a..b:n (or a..b:n:log) with two numbers and n from 2 to %d",
        path, text, WEDGE_MAX_RUNS);
  }
  if ((float)out->low == (float)out->high) {
    return bad_input("--sweep %s=%s: the range is empty: both ends are the same", path, text);
  }
  if (out->log && !(out->low * out->high > 0.0)) {
    return bad_input("--sweep %s=%s: a logarithmic range must not reach zero", path, text);
  }
  return -1;
}

// The end of a value: a comma that is not within brackets or quotation marks.
static const char* value_end(const char* at) {
  int depth = 0;
  bool quoted = false;
  for (; *at && (quoted || depth > 0 || *at != ','); ++at) {
    if (quoted && *at == '\\' && at[1]) {
      ++at;
    } else if (*at == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      depth += (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
    }
  }
  return at;
}

static int read_list(wedge_sweep* sweep, const char* text) {
  int32_t count = 1;
  for (const char* at = value_end(text); *at; at = value_end(at + 1)) ++count;
  if (count > WEDGE_MAX_RUNS) {
    return bad_input("--sweep %s has more than %d values", sweep->path, WEDGE_MAX_RUNS);
  }
  int code = make_room(sweep, count);
  for (int32_t i = 0; code < 0 && i < count; ++i) {
    const char* end = value_end(text);
    size_t length = (size_t)(end - text);
    if (length == 0) return bad_input("--sweep %s has an empty value", sweep->path);
    if (strlen(sweep->path) + 1 + length >= WEDGE_TEXT) {
      return bad_input("--sweep %s has a value that is too long", sweep->path);
    }
    memcpy(sweep->values[i], text, length);
    sweep->values[i][length] = '\0';
    text = end + 1;
  }
  return code;
}

static int read_sweep(const char* text, int32_t latin, int32_t seed, int32_t dimension,
                      wedge_sweep* out) {
  const char* equals = strchr(text, '=');
  size_t length = equals ? (size_t)(equals - text) : 0;
  // Room for any number.
  if (length == 0 || length + YW_NUMBER_TEXT + 1 >= sizeof out->path) {
    return bad_input("--sweep is \"%s\", but must be path=a..b:n or path=v1,v2", text);
  }
  memcpy(out->path, text, length);
  out->path[length] = '\0';
  out->is_range = looks_like_range(equals + 1);
  if (!out->is_range) return read_list(out, equals + 1);
  range r;
  int code = read_range(out->path, equals + 1, &r);
  if (code >= 0) return code;
  if (latin > 0 && r.count > 0) {
    return bad_input("--sweep %s: with --latin a range has no number of values: the samples are %d",
                     text, latin);
  }
  if (latin > 0) return spread_latin(out, &r, latin, seed, dimension);
  if (r.count > 0) return spread_evenly(out, &r);
  return bad_input("--sweep %s: how many values? Add them (%s:5), or give --latin", text, text);
}

// Runs --------------------------------------------------------------------------------------------

static int count_runs(wedge_sweeps* s, int32_t latin) {
  double product = 1.0;
  bool ranges = false;
  for (int32_t i = 0; i < s->count; ++i) {
    if (!(s->latin && s->items[i].is_range && ranges)) product *= s->items[i].count;
    ranges |= s->items[i].is_range;
  }
  if (latin > 0 && !ranges) return bad_input("--latin samples ranges, but no --sweep is one");
  if (product > WEDGE_MAX_RUNS) {
    return bad_input("the sweeps make %.0f runs, but at most %d are possible", product,
                     WEDGE_MAX_RUNS);
  }
  s->num_runs = (int32_t)product;
  return -1;
}

int wedge_sweeps_read(const option_list* texts, int32_t latin, int32_t seed, wedge_sweeps* out) {
  *out = (wedge_sweeps){.latin = latin > 0};
  if (texts->count > WEDGE_MAX_SWEEPS) {
    return bad_input("--sweep is given more than %d times", WEDGE_MAX_SWEEPS);
  }
  for (int32_t i = 0; i < texts->count; ++i) {
    wedge_sweep* sweep = &out->items[out->count++];
    int code = read_sweep(texts->items[i], latin, seed, i, sweep);
    if (code >= 0) return code;
    for (int32_t k = 0; k < i; ++k) {
      if (strcmp(out->items[k].path, sweep->path) != 0) continue;
      return bad_input("--sweep %s is given twice; put all values in one", sweep->path);
    }
  }
  return count_runs(out, latin);
}

void wedge_sweeps_free(wedge_sweeps* sweeps) {
  for (int32_t i = 0; i < sweeps->count; ++i) yw_mem_free(NULL, sweeps->items[i].values);
  *sweeps = (wedge_sweeps){0};
}

void wedge_sweeps_choose(const wedge_sweeps* s, int32_t run, int32_t out[WEDGE_MAX_SWEEPS]) {
  int32_t sample = -1;
  for (int32_t i = s->count - 1; i >= 0; --i) {
    bool together = s->latin && s->items[i].is_range;
    if (together && sample >= 0) {
      out[i] = sample;
      continue;
    }
    out[i] = run % s->items[i].count;
    run /= s->items[i].count;
    if (together) sample = out[i];
  }
}
