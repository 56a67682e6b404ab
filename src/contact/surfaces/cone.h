// SPDX-License-Identifier: MIT
// Vertices and edges that lie within flat faces can touch something only along the normal of the
// face. Bodies that slide over flat faces would be caught at them otherwise: what is nearest to a
// vertex that has just passed an edge is that edge, a little behind it.
#ifndef YW_CONTACT_SURFACES_CONE_H
#define YW_CONTACT_SURFACES_CONE_H

#include "contact/surfaces/touch.h"

/// Directions that lead into a face, so that less than this is left of their length when they are
/// turned into the cone, are far from it. Tuned on blocks of all methods on slabs of all methods
/// (which should slide) and impacts of their corners (in which the guard should have nothing to
/// do).
#define YW_CONE_LEAST 0.65f
/// Minus the cosine between directions within two faces, away from their edge, that lie in one
/// plane.
#define YW_FLAT_FACES 0.9f

/// Turns a direction that leads away from the body into the normal of the face around the vertex or
/// edge, at time t of the substep, if it leads into that face. False where it is too far from it.
/// Directions at vertices and edges that stand out stay as they are.
bool yw_cone_of_vertex(const yw_contact_work* work, int32_t vertex, float t, yw_vec3* away);
/// p: a point of the edge.
bool yw_cone_of_edge(const yw_contact_work* work, int32_t edge, yw_vec3 p, float t, yw_vec3* away);

/// Drops contacts of vertices with faces, of one pair of bodies, that meet the vertex from the
/// side: a vertex in a flat face cannot stop what slides over that face. Returns how many are left.
int32_t yw_cone_drop(const yw_contact_work* works, yw_contact* contacts, int32_t count);

#endif
