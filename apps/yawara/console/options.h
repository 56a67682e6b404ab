// SPDX-License-Identifier: MIT
// Command-line options from a table: parsing, --help, and errors with suggestions.
#ifndef YW_APP_CONSOLE_OPTIONS_H
#define YW_APP_CONSOLE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

// Exit codes of the program.
enum {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,
  EXIT_BAD_INPUT = 2,
  EXIT_FAULTS = 3,  ///< done, but a body diverged on the way
  EXIT_INTERRUPTED = 130
};

typedef enum option_kind {
  OPTION_FLAG,   ///< bool
  OPTION_INT,    ///< int32_t, low to high
  OPTION_FLOAT,  ///< float, low to high
  OPTION_TEXT,   ///< const char*
  OPTION_LIST    ///< option_list: may be given several times
} option_kind;

#define OPTION_LIST_MAX 64
typedef struct option_list {
  int32_t count;
  const char* items[OPTION_LIST_MAX];
} option_list;

typedef struct option {
  const char* name;  ///< without dashes
  char letter;       ///< short form, or 0
  option_kind kind;
  void* target;
  const char* argument;  ///< e.g. "N"; NULL for flags
  const char* help;
  double low, high;
} option;

typedef struct command {
  const char* name;
  const char* summary;   ///< one line
  const char* usage;     ///< after "yawara"
  const char* about;     ///< what the command does, as lines; may be NULL
  const char* examples;  ///< lines, may be NULL
  const option* options;
  int32_t num_options;
  int32_t min_arguments, max_arguments;
} command;

/// Fills targets and arguments (space for max_arguments). Returns -1 to continue, or the exit code.
int parse_options(const command* self, int argc, char** argv, const char** arguments,
                  int32_t* num_arguments);
/// Prints "yawara: message" to standard error and returns EXIT_BAD_INPUT.
int bad_input(const char* format, ...) __attribute__((format(printf, 1, 2)));
/// The exit code of the program, given that of its command: what was printed must have arrived.
int finish_output(int code);

#endif
