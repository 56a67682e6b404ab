// SPDX-License-Identifier: MIT
// The commands of yawara-studies; argc and argv start after the name. The result is the exit code.
#ifndef YW_STUDIES_STUDIES_H
#define YW_STUDIES_STUDIES_H

int study_bench(int argc, char** argv);
int study_fit(int argc, char** argv);
int study_paper(int argc, char** argv);

#endif
