// SPDX-License-Identifier: MIT
// The program's side of skins: what makes them is a library of its own, since OpenVDB takes
// thirty milliseconds to load.
#include "render/skin/skin.h"

#include <pthread.h>

#include "plugins/plugin.h"
#include "yawara/extend/error.h"

skin_def skin_default_def(void) { return (skin_def){.voxel = 0.5f, .smoothing = 1, .fair = true}; }

#ifdef YW_HAVE_OPENVDB

static pthread_once_t looked = PTHREAD_ONCE_INIT;
static skin_make_fn make;
static yw_error why_not;

static void look(void) {
  plugin_find("libyawara_skin.so", PLUGIN_TEXT(SKIN_MAKE), &make, &why_not);
}

static yw_status find(yw_error* error) {
  pthread_once(&looked, look);
  yw_error_clear(error);
  if (!make && error) *error = why_not;
  return make ? YW_OK : why_not.status;
}

#else

static const skin_make_fn make = NULL;

static yw_status find(yw_error* error) {
  return yw_fail(
      error, YW_ERR_INVALID,
      "this build of yawara makes no skins of particles: it was built without OpenVDB. "
      "Install it (Debian: apt-get install libopenvdb-dev libboost-dev) and build again");
}

#endif

yw_status skin_available(yw_error* error) { return find(error); }

yw_status skin_make(const skin_def* def, yw_tri_mesh* out, yw_error* error) {
  *out = (yw_tri_mesh){0};
  yw_status status = find(error);
  return status < 0 ? status : make(def, out, error);
}
