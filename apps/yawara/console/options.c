// SPDX-License-Identifier: MIT
#include "console/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/manual.h"
#include "yawara/extend/text.h"

int bad_input(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("yawara: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return EXIT_BAD_INPUT;
}

int finish_output(int code) {
  errno = 0;
  bool lost = ferror(stdout) != 0 || fflush(stdout) != 0;
  if (!lost || code != EXIT_DONE) return code;
  return bad_input("standard output cannot be written: %s", errno ? strerror(errno) : "it failed");
}

static void print_help(const command* self) {
  printf("yawara %s: %s\n\nusage: yawara %s\n\n", self->name, self->summary, self->usage);
  if (self->about) printf("%s\n", self->about);
  for (int32_t i = 0; i < self->num_options; ++i) {
    const option* o = &self->options[i];
    char left[64], letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    printf("  %-26s %s\n", left, o->help);
  }
  printf("  %-26s %s\n", "-h, --help", "this text");
  if (self->examples) printf("\nexamples:\n%s", self->examples);
}

static const option* find_option(const command* self, const char* name, size_t length) {
  for (int32_t i = 0; i < self->num_options; ++i) {
    const option* o = &self->options[i];
    if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
  }
  return NULL;
}

static int unknown_option(const command* self, const char* given) {
  const char* names[64];
  int32_t count = self->num_options < 64 ? self->num_options : 64;
  for (int32_t i = 0; i < count; ++i) names[i] = self->options[i].name;
  yw_hint hint = yw_suggest(given + strspn(given, "-"), count, names);
  return bad_input("unknown option %s%s; see: yawara %s --help", given, hint.text, self->name);
}

static int set_number(const option* o, const char* text) {
  char* end = NULL;
  errno = 0;
  double value = strtod(text, &end);
  bool whole = o->kind != OPTION_INT || value == floor(value);
  if (end == text || *end || errno || !isfinite(value) || !whole) {
    return bad_input("--%s is \"%s\", but must be a %snumber", o->name, text,
                     o->kind == OPTION_INT ? "whole " : "");
  }
  if (value < o->low || value > o->high) {
    return bad_input("--%s is %s, but must be between %g and %g", o->name, text, o->low, o->high);
  }
  if (o->kind == OPTION_INT) {
    *(int32_t*)o->target = (int32_t)value;
  } else {
    *(float*)o->target = (float)value;
  }
  return -1;
}

static int set_option(const option* o, const char* text) {
  if (o->kind == OPTION_INT || o->kind == OPTION_FLOAT) return set_number(o, text);
  if (o->kind == OPTION_TEXT) {
    *(const char**)o->target = text;
    return -1;
  }
  option_list* list = o->target;
  if (list->count == OPTION_LIST_MAX) {
    return bad_input("--%s is given more than %d times", o->name, OPTION_LIST_MAX);
  }
  list->items[list->count++] = text;
  return -1;
}

// Handles the option argv[*i]; advances *i past its argument.
static int take_option(const command* self, int argc, char** argv, int* i) {
  const char* given = argv[*i];
  const option* o = NULL;
  const char* value = NULL;
  if (given[1] == '-') {
    const char* equals = strchr(given, '=');
    size_t length = equals ? (size_t)(equals - given) - 2 : strlen(given) - 2;
    o = find_option(self, given + 2, length);
    value = equals ? equals + 1 : NULL;
  } else {
    for (int32_t k = 0; k < self->num_options; ++k) {
      if (self->options[k].letter == given[1]) o = &self->options[k];
    }
    if (given[1] && given[2]) value = given + 2;
  }
  if (!o) return unknown_option(self, given);
  if (o->kind == OPTION_FLAG) {
    if (value) return bad_input("--%s takes no value", o->name);
    *(bool*)o->target = true;
    return -1;
  }
  if (!value) {
    if (*i + 1 >= argc) return bad_input("--%s needs a value: %s", o->name, o->argument);
    value = argv[++*i];
  }
  return set_option(o, value);
}

int parse_options(const command* self, int argc, char** argv, const char** arguments,
                  int32_t* num_arguments) {
  *num_arguments = 0;
  bool options_end = false;
  for (int i = 0; i < argc; ++i) {
    const char* given = argv[i];
    if (!options_end && strcmp(given, "--") == 0) {
      options_end = true;
    } else if (!options_end && (strcmp(given, "--help") == 0 || strcmp(given, "-h") == 0)) {
      print_help(self);
      return EXIT_DONE;
    } else if (!options_end && strcmp(given, "--help=man") == 0) {
      manual_print_command(self);
      return EXIT_DONE;
    } else if (!options_end && strcmp(given, "--help=options") == 0) {
      manual_print_options(self);
      return EXIT_DONE;
    } else if (!options_end && given[0] == '-' && given[1]) {
      int code = take_option(self, argc, argv, &i);
      if (code >= 0) return code;
    } else if (*num_arguments == self->max_arguments) {
      return bad_input("unexpected argument \"%s\"; usage: yawara %s", given, self->usage);
    } else {
      arguments[(*num_arguments)++] = given;
    }
  }
  if (*num_arguments < self->min_arguments) {
    return bad_input("an argument is missing; usage: yawara %s", self->usage);
  }
  return -1;
}
