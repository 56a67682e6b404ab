// SPDX-License-Identifier: MIT
// Manual pages and shell completion, from the same tables as --help.
#ifndef YW_APP_CONSOLE_MANUAL_H
#define YW_APP_CONSOLE_MANUAL_H

#include <stdint.h>

#include "console/options.h"

typedef struct manual_entry {
  const char* name;
  const char* summary;
} manual_entry;

/// Prints the manual page of the program (roff, section 1).
void manual_print_program(int32_t count, const manual_entry* commands);
/// Prints the manual page of a command: `yawara COMMAND --help=man`.
void manual_print_command(const command* self);
/// Prints a line per option, "--name<TAB>argument<TAB>choices<TAB>help", for completion in shells:
/// `yawara COMMAND --help=options`. Choices are separated by spaces.
void manual_print_options(const command* self);

#endif
