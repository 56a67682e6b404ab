// SPDX-License-Identifier: MIT
// One function per subcommand; argc and argv start after its name. The result is the exit code.
#ifndef YW_APP_COMMANDS_COMMANDS_H
#define YW_APP_COMMANDS_COMMANDS_H

int cmd_run(int argc, char** argv);
int cmd_wedge(int argc, char** argv);
int cmd_new(int argc, char** argv);
int cmd_view(int argc, char** argv);
int cmd_mesh(int argc, char** argv);
int cmd_inspect(int argc, char** argv);
int cmd_export(int argc, char** argv);
int cmd_plot(int argc, char** argv);
int cmd_schema(int argc, char** argv);
int cmd_render(int argc, char** argv);

#endif
