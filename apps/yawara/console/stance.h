// SPDX-License-Identifier: MIT
// How stiff a body must be to stand on its legs, and how high it may fall on them.
#ifndef YW_APP_CONSOLE_STANCE_H
#define YW_APP_CONSOLE_STANCE_H

#include "yawara/yawara.h"

/// Relative to the longest side L of the body, which is 1.
typedef struct stance {
  /// Young's modulus at which a body that stands on its lowest point buckles under its own weight,
  /// divided by density, gravity and L: below 2 for blocks, balls and bunnies, hundreds for animals
  /// with thin legs. 0 if there is nothing to measure.
  float stiffness;
  /// The same for a body that leans until its centre is no longer above its feet: hundreds for
  /// what stands on two legs. 0 for what does not stand.
  float lean;
  float stress;     ///< largest in a section, from what it carries, over density, gravity and L
  float thickness;  ///< smallest of the sections that carry half of the body
  float volume;
  /// From here it may fall on its feet without toppling; INFINITY where nothing limits it, also for
  /// what does not stand at all.
  float drop;
  /// It needs so much that it does not stand, whatever it is made of: a wheel, a needle.
  bool falls;
  /// How open the surface is: its area as a vector over its area. 0 if it is closed, 1/2 for half
  /// of a ball, 1 for what is flat. Of one or two holes their area over that of the surface, if
  /// that is more: above 1 for a band or a Moebius strip.
  float open;
} stance;

/// The surface is that of the body, closed; axis (0 to 2) points up.
stance stance_of(const yw_tri_mesh* surface, int axis);

/// The same for a model in a file. `tets`: it has tets, whose boundary is meant. Of a file that
/// cannot be read all is 0: whoever builds the scene says why.
stance stance_of_file(const char* path, bool tets, int axis);

#endif
