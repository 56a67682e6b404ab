// SPDX-License-Identifier: MIT
// What is exported of a run: that which is shown; but a sheet that was made of a mesh file is that
// mesh, with its vertices in their order, instead of two sides and a rim around it.
#ifndef YW_APP_PLAYBACK_EXPORT_SCENE_H
#define YW_APP_PLAYBACK_EXPORT_SCENE_H

#include "playback/export_look.h"

/// Zero-initialised: empty.
typedef struct export_scene {
  shown_scene shown;   ///< borrows all from that of the run but the models of such sheets
  bool* flat;          ///< of each model: such a sheet, whose vertices are its particles
  export_look* looks;  ///< of each model
} export_scene;

/// thick: sheets are as they are shown. looks: what files say of texture coordinates and materials
/// is wanted. `from` must outlive the scene.
yw_status export_scene_open(const shown_scene* from, bool thick, bool looks, export_scene* out,
                            yw_error* error);
void export_scene_close(export_scene* scene);

static inline const shown_model* export_model_of(const export_scene* scene, int32_t body) {
  return shown_model_of(&scene->shown, body);
}
static inline bool export_is_flat(const export_scene* scene, int32_t body) {
  return scene->flat[scene->shown.bodies[body].model];
}

#endif
