// SPDX-License-Identifier: MIT
// A body in the hands of whoever makes a pose: it floats in a world of its own, without gravity and
// without examples, and its elasticity decides what pulling at some vertices does to the others.
//
// The shape is what the body springs back to; it starts as the rest pose or an example. Handles
// hold vertices and can be moved, turned and scaled. Baking makes the body's present positions its
// shape and lets everything go; so do brush strokes when they end.
//
// Coordinates are those of the model.
#ifndef YW_WEB_POSER_H
#define YW_WEB_POSER_H

#include "yawara/yawara.h"

#define POSER_MAX_HANDLES 64
// Of the body that is posed: density (kg/m^3), and Young's modulus over density, gravity and size.
#define POSER_DENSITY 1000.0f
#define POSER_GRAVITY 9.81f
#define POSER_STIFFNESS 300.0f

typedef struct poser_handle {
  int32_t id;    ///< from 1
  int32_t twin;  ///< id of its mirror image; its own: it is in the middle; 0: none
  int32_t num_vertices;
  int32_t* vertices;
  float* weights;  ///< 1: held exactly; less: pulled
  yw_vec3* from;   ///< where they were when they were taken hold of
  yw_vec3 center;  ///< of those
  yw_vec3 offset;
  yw_quat turn;
  float scale;
  bool anchor;  ///< holds the far side, so that pulling does not carry the body away
  yw_pin_id pin;
} poser_handle;

typedef struct poser {
  const yw_model* source;        ///< of the body that is posed; not owned
  yw_tet_mesh tets;              ///< its tets with the positions of the shape; empty: no volume
  int32_t count;                 ///< vertices
  yw_vec3 *plain, *shape, *now;  ///< before the deformers, after them, and with handles
  float size;                    ///< m, longest side at rest
  float middle;                  ///< x of the plane between left and right
  yw_model* model;               ///< of the shape; NULL until it is needed
  yw_world* world;
  yw_body_id body;
  poser_handle handles[POSER_MAX_HANDLES];
  int32_t num_handles, last_id;
  bool brushing;
  int32_t* partner;  ///< mirror image of each vertex at rest; -1: none
  bool mirrored;     ///< left and right do the same since the last bake
  float* words;      ///< see poser_save
  int32_t num_words;
} poser;

/// What is taken hold of.
typedef struct poser_grip {
  yw_vec3 at;      ///< m
  float radius;    ///< m
  float strength;  ///< of a brush, 0 to 1
  float falloff;   ///< of a brush: weights are (1 - d^2 / radius^2)^falloff
  bool brush;      ///< pulls softly, and is baked when it ends
  bool mirror;     ///< the other side does the same
} poser_grip;

/// base: positions to start from; NULL: the rest pose. NULL with a message for bodies that are
/// neither volumes nor rods nor sheets.
poser* poser_create(const yw_model* model, const yw_vec3* base, yw_error* error);
void poser_destroy(poser* p);

/// Takes hold of the vertices around a point; *id is the new handle.
yw_status poser_hold(poser* p, const poser_grip* grip, int32_t* id, yw_error* error);
/// Moves a handle, relative to where it was taken: p -> center + offset + turn scale (p - center).
yw_status poser_move(poser* p, int32_t id, yw_vec3 offset, yw_quat turn, float scale,
                     yw_error* error);
/// Lets go of a handle and its twin; the body springs back there.
void poser_drop(poser* p, int32_t id);
/// Lets go of everything; the body springs back to its shape.
void poser_relax(poser* p);
/// Lets go of everything and keeps what it looks like now. YW_ERR_GEOMETRY if tets are inside out:
/// then nothing has changed.
yw_status poser_bake(poser* p, yw_error* error);
/// Ends a brush stroke: bakes it, or undoes it if tets would be inside out.
yw_status poser_end_stroke(poser* p, yw_error* error);
/// Deforms the shape before the deformers: amounts has one number per yw_deform_kind. Bakes what
/// handles did first.
yw_status poser_deform(poser* p, const float* amounts, yw_vec3 axis, yw_error* error);
/// A sixtieth of a second.
void poser_step(poser* p);

/// The state as numbers, for undo: p->words. False if out of memory.
bool poser_save(poser* p);
bool poser_load(poser* p, const float* words, int32_t count);

/// Makes p->model, which is of the shape (poser_model.c).
yw_status poser_create_model(poser* p, yw_error* error);
/// Whether bodies of a model can be posed.
bool poser_can_hold(const yw_model* model);

/// Where a handle is now.
yw_vec3 poser_place(const poser_handle* handle);

#endif
