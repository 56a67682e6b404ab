// SPDX-License-Identifier: MIT
// The scene that is open as a run folder, as yawara run writes it: untouched, from its start.
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "playback/run_log.h"
#include "yawara/extend/memory.h"

struct core_keep {
  char dir[RUN_MAX_PATH];
  run_info info;
  run_log log;
  frame_cells* known_cells;
};

void core_keep_stop(core* c) {
  core_keep* keep = c->keep;
  if (!keep) return;
  run_log_close(&keep->log);
  run_info_free(&keep->info);
  yw_mem_free(NULL, keep->known_cells);
  yw_mem_free(NULL, keep);
  c->keep = NULL;
}

// Lines "path<TAB>value" as run.json says them.
static yw_status list_changes(core* c, const char* changes) {
  run_info* info = &c->keep->info;
  for (const char *line = changes, *end; *line; line = end + 1) {
    const char* tab = strchr(line, '\t');
    end = strchr(line, '\n');
    if (!tab || !end || tab > end) break;
    if (info->num_overrides == RUN_MAX_OVERRIDES ||
        (size_t)(end - line) >= sizeof *info->overrides) {
      return yw_fail(&c->message, YW_ERR_LIMIT,
                     "too many values were changed for a run: at most %d", RUN_MAX_OVERRIDES);
    }
    snprintf(info->overrides[info->num_overrides++], sizeof *info->overrides, "%.*s=%.*s",
             (int)(tab - line), line, (int)(end - tab - 1), tab + 1);
  }
  return YW_OK;
}

static yw_status write_frame(core* c) {
  core_keep* keep = c->keep;
  const frame_def def = {
      .world = c->world, .scene = c->scene, .number = c->frame, .known_cells = keep->known_cells};
  frame_data frame;
  yw_status status = frame_take(&def, &frame, &c->message);
  if (status < 0) return status;
  status = run_folder_write_frame(keep->dir, &keep->info, NULL, &frame, &c->message);
  frame_free(&frame);
  return status;
}

static yw_status begin(core* c, const char* scene, const char* changes) {
  core_keep* keep = c->keep;
  run_info* info = &keep->info;
  info->fps = c->info.fps;
  info->substeps = c->info.substeps;
  info->frames = c->info.frames;
  snprintf(info->made_by, sizeof info->made_by, "%s", yw_version());
  snprintf(info->scene, sizeof info->scene, "/%s.json", c->info.name);
  keep->known_cells = YW_NEW_ARRAY(NULL, frame_cells, c->shown->num_bodies);
  if (!keep->known_cells) return yw_fail_memory(&c->message, "a run");
  yw_status status = list_changes(c, changes);
  if (status >= 0) status = run_info_take_files(c->scene, info, &c->message);
  if (status >= 0) status = run_folder_make(keep->dir, false, &c->message);
  if (status >= 0) {
    status = run_folder_write_shown(keep->dir, c->scene, scene, c->shown, info, &c->message);
  }
  if (status >= 0) status = write_frame(c);
  if (status >= 0) status = run_log_start(keep->dir, c->world, &keep->log, &c->message);
  if (status >= 0) run_log_append(&keep->log, 0, c->world, NULL);
  return status;
}

yw_status core_keep_start(core* c, const char* dir, const char* scene, const char* changes) {
  core_keep_stop(c);
  yw_status status = core_restart(c);
  if (status < 0) return status;
  c->keep = YW_NEW(NULL, core_keep);
  if (!c->keep) return yw_fail_memory(&c->message, "a run");
  snprintf(c->keep->dir, sizeof c->keep->dir, "%s", dir);
  status = begin(c, scene, changes);
  if (status < 0) core_keep_stop(c);
  return status;
}

yw_status core_keep_frame(core* c) {
  if (!c->keep) return yw_fail(&c->message, YW_ERR_INVALID, "no run was started");
  yw_status status = core_step(c);
  if (status >= 0) status = write_frame(c);
  if (status >= 0) run_log_append(&c->keep->log, c->frame, c->world, &c->report);
  c->keep->info.seconds += c->report.seconds_total;
  return status;
}

yw_status core_keep_end(core* c) {
  core_keep* keep = c->keep;
  if (!keep) return yw_fail(&c->message, YW_ERR_INVALID, "no run was started");
  keep->info.frames_done = c->frame;
  keep->info.state_hash = yw_world_hash(c->world);
  yw_status status = run_log_flush(&keep->log, &c->message);
  if (status >= 0) status = run_info_write(keep->dir, &keep->info, &c->message);
  if (status >= 0)
    status = run_folder_write_snapshot(keep->dir, c->frame, c->world, false, &c->message);
  core_keep_stop(c);
  return status;
}
