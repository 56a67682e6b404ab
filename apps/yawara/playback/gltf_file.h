// SPDX-License-Identifier: MIT
// The two files of a glTF export: run.bin with the numbers, run.gltf with what they mean.
//
// run.bin holds, one after another: triangles, colours and texture coordinates of the parts; in
// every frame positions and normals of each part that morphs, the first as they are, the others as
// differences from it; times; weights, a row per frame with a single 1; and poses of obstacles.
#ifndef YW_APP_PLAYBACK_GLTF_FILE_H
#define YW_APP_PLAYBACK_GLTF_FILE_H

#include "playback/export_part.h"
#include "yawara/extend/file.h"

/// Where the numbers of a part are in run.bin.
typedef struct gltf_place {
  uint64_t triangles, colors, uvs;
  uint64_t positions, rotations, scales;  ///< of its node, if it moves
  bool moves;
} gltf_place;

/// Positions of a part in a frame.
typedef struct gltf_block {
  uint64_t at;  ///< normals follow if the part has triangles
  yw_vec3 low, high;
} gltf_block;

typedef struct gltf_file {
  uint64_t size;  ///< bytes of run.bin
  int32_t num_parts, num_frames;
  const export_part* parts;
  gltf_place* places;
  gltf_block* blocks;   ///< num_frames x num_parts; of parts that do not morph only the first row
  yw_transform* poses;  ///< of obstacles, num_frames x num_parts
  float* times;         ///< s after the first frame
  uint64_t times_at, weights_at;
} gltf_file;

/// Writes run.gltf.
yw_status gltf_file_describe(const gltf_file* g, const char* path, yw_error* error);

/// Whether its frames are morph targets.
static inline bool gltf_file_fades(const gltf_file* g, const export_part* part) {
  return part->morphs && g->num_frames > 1;
}

#endif
