// SPDX-License-Identifier: MIT
// The numbers of a frame of a run, from its log.
#ifndef YW_APP_SERVER_RUN_REPORT_H
#define YW_APP_SERVER_RUN_REPORT_H

#include "core.h"
#include "render/draw/table.h"

/// Adds the report of the frame that is shown as JSON, in the form of core_report_json. Numbers
/// that the log does not have are null; the hash is known of the last frame only.
void run_report_add(text* out, const core* c, const yw_table* log);

#endif
