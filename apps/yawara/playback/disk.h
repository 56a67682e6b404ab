// SPDX-License-Identifier: MIT
// What a run asks of its folder: to be the only writer, to have everything on the disk before a
// snapshot counts on it, and to leave no temporary files behind.
#ifndef YW_APP_PLAYBACK_DISK_H
#define YW_APP_PLAYBACK_DISK_H

#include "yawara/yawara.h"

/// Makes this process the only writer of a folder until it ends, however it ends, or calls
/// disk_unlock. Returns a handle, or a negative yw_status if another process holds the folder.
int disk_lock(const char* dir, yw_error* error);
/// Safe on a negative handle.
void disk_unlock(int lock);
/// Returns once everything written to the file system of the folder is on the disk.
yw_status disk_sync(const char* dir, yw_error* error);
/// From now on, disk_sync does nothing in this process for so many seconds: somebody else syncs for
/// many short runs together, and one that is lost with the power is quickly done again.
void disk_spare_syncs(double seconds);
/// True within these seconds: files need not be on the disk before they get their names.
bool disk_is_spared(void);
/// Removes temporary files of writers (see yawara/extend/file.h) that were killed.
void disk_remove_leftovers(const char* dir);
/// Bytes of all files in a folder, subfolders not included; 0 if it cannot be read.
int64_t disk_bytes(const char* dir);

#endif
