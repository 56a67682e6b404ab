// SPDX-License-Identifier: MIT
// Rigid bodies behind the seam of methods.
#ifndef YW_METHODS_RIGID_RIGID_H
#define YW_METHODS_RIGID_RIGID_H

#include "methods/rigid/body.h"

extern const yw_method yw_rigid_method;

#endif
