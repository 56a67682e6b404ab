// SPDX-License-Identifier: MIT
#include "console/manual.h"

#include <stdio.h>
#include <string.h>

#include "yawara/yawara.h"

// What options of these names may be set to. Each is offered where the option's help mentions it.
static const struct {
  const char* option;
  const char* words[12];
} choices[] = {
    {"as", {"jelly", "rubber", "foam", "toy", "clay", "cloth", "steel"}},
    {"format", {"ply", "obj", "vtu", "pc2", "mdd", "bgeo", "gltf", "usd"}},
    {"kind", {"rings", "cells"}},
    {"method", {"match", "frames", "fem", "plastic", "slender", "rigid"}},
    {"on-fault", {"stop", "retry", "continue"}},
    {"simd", {"plain", "avx2", "avx512"}},
    {"unit", {"mm", "cm", "m", "inch", "ft"}},
    {"up", {"y", "z"}},
};
enum { NUM_CHOICES = sizeof choices / sizeof choices[0] };

// Text for roff: nothing in it is a request or an escape, and hyphens stay hyphens.
static void put_text(const char* text) {
  bool line_start = true;
  for (; *text; ++text) {
    if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
    line_start = *text == '\n';
    if (*text == '\\') {
      fputs("\\e", stdout);
    } else if (*text == '-') {
      fputs("\\-", stdout);
    } else {
      putchar(*text);
    }
  }
}

// As it stands: columns and line breaks are kept.
static void put_block(const char* title, const char* text) {
  printf(".SH %s\n.nf\n", title);
  put_text(text);
  if (*text && text[strlen(text) - 1] != '\n') putchar('\n');
  puts(".fi");
}

static void put_title(const char* page) {
  printf(".TH %s 1 \"\" \"Yawara %s\" \"Yawara\"\n", page, yw_version());
}

static void put_item(const char* name, const char* argument) {
  fputs(".TP\n\\fB", stdout);
  put_text(name);
  fputs("\\fR", stdout);
  if (argument) printf(" \\fI%s\\fR", argument);
  putchar('\n');
}

void manual_print_program(int32_t count, const manual_entry* commands) {
  put_title("YAWARA");
  puts(".SH NAME\nyawara \\- simulates soft things\n.SH SYNOPSIS\n.B yawara\nCOMMAND [arguments]");
  puts(".SH COMMANDS");
  for (int32_t i = 0; i < count; ++i) {
    put_item(commands[i].name, NULL);
    put_text(commands[i].summary);
    printf("; see\n.BR yawara\\-%s (1)\n", commands[i].name);
  }
  put_block("EXAMPLES",
            "yawara run cow.obj --as jelly         # any model; no scene is needed\n"
            "yawara render out/cow -o cow.mp4      # or look at it: yawara view out/cow\n"
            "yawara new my_scene --from cow.obj    # then edit my_scene.json and run it\n");
  puts(
      ".SH EXIT STATUS\n"
      "0 done, 1 the simulation failed, 2 bad input, 3 done but a body diverged, 130 interrupted\n"
      "(resume with \\-\\-resume).");
}

void manual_print_command(const command* self) {
  char page[64];
  snprintf(page, sizeof page, "yawara\\-%s", self->name);
  put_title(page);
  printf(".SH NAME\n%s \\- ", page);
  put_text(self->summary);
  putchar('\n');
  char synopsis[1024];
  snprintf(synopsis, sizeof synopsis, "yawara %s", self->usage);
  put_block("SYNOPSIS", synopsis);
  if (self->about) put_block("DESCRIPTION", self->about);
  puts(".SH OPTIONS");
  for (int32_t i = 0; i < self->num_options; ++i) {
    const option* o = &self->options[i];
    char name[128], letter[8] = "";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(name, sizeof name, "%s--%s", letter, o->name);
    put_item(name, o->argument);
    put_text(o->help);
    putchar('\n');
  }
  if (self->examples) put_block("EXAMPLES", self->examples);
  puts(".SH SEE ALSO\n.BR yawara (1)");
}

// Words of the table that the help mentions, as words of their own.
static void put_choices(const option* o) {
  for (int32_t i = 0; i < NUM_CHOICES; ++i) {
    if (strcmp(choices[i].option, o->name) != 0) continue;
    for (int32_t k = 0; choices[i].words[k]; ++k) {
      if (strstr(o->help, choices[i].words[k])) printf("%s ", choices[i].words[k]);
    }
  }
}

void manual_print_options(const command* self) {
  for (int32_t i = 0; i < self->num_options; ++i) {
    const option* o = &self->options[i];
    printf("--%s\t%s\t", o->name, o->argument ? o->argument : "");
    if (o->argument) put_choices(o);
    printf("\t%s\n", o->help);
  }
  puts("--help\t\t\tthis text");
}
