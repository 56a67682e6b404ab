// SPDX-License-Identifier: MIT
// Ranks of the program over MPI. What knows MPI is a library of its own (libyawara_mpi.so, from
// mpi.c), opened when the program was started by mpirun: it needs nothing of MPI otherwise.
#ifndef YW_APP_RANKS_RANKS_H
#define YW_APP_RANKS_RANKS_H

#include "yawara/extend/ranks.h"

/// What the library exports under the name "app_ranks_table".
typedef struct app_ranks_library {
  int32_t interface;  ///< YW_RANKS_INTERFACE
  /// All ranks that were started together; NULL with an error text on failure. *here: how many of
  /// them are on this machine.
  const yw_ranks* (*open)(int32_t* here, char* error, size_t capacity);
  void (*close)(void);
} app_ranks_library;
typedef const app_ranks_library* (*app_ranks_table_fn)(void);

/// How many ranks a launcher (mpirun, mpiexec, srun) has started; 1: none has.
int32_t app_ranks_launched(void);
/// Joins the other ranks, if a launcher has started some; checks that all are the same program.
/// Returns -1 to continue, with *out NULL for one rank, or the exit code.
int app_ranks_join(const yw_ranks** out, int32_t* here);
/// Ranks other than 0 say nothing: rank 0 speaks for them, unless they alone have failed.
void app_ranks_silence(const yw_ranks* ranks);
/// A code of 0 or more on one rank becomes that of all; -1: all may continue.
int app_ranks_agree(const yw_ranks* ranks, int code);
/// Says what ranks took and sent.
void app_ranks_report(const yw_ranks* ranks, bool quiet);
/// Ends with the code of rank 0, or of a rank that failed alone. Returns it.
int app_ranks_leave(const yw_ranks* ranks, int code);

#endif
