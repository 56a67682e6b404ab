// SPDX-License-Identifier: MIT
#include "geometry/mesher_align.h"

#include <stdlib.h>

#include "geometry/shape_node.h"
#include "geometry/shape_planes.h"
#include "yawara/extend/memory.h"

#define PARALLEL 1e-6  // squared sine of the angle between directions that count as one

// Cells narrower than this fraction of the spacing would be too flat: of two faces closer than
// that, the lattice follows the larger one.
#define NARROWEST_CELL 0.27
// Up to this number of spacings, one cell bridges the gap between two faces.
#define WIDEST_CELL 1.3
// A cell is divided at a face that is at least this fraction of it away from both sides.
#define NEAR_MIDDLE 0.333

typedef struct flat_plane {
  double at, area;
} flat_plane;

typedef struct plane_list {
  flat_plane* items;
  int32_t count;
} plane_list;

static bool is_parallel(yw_dvec3 a, yw_dvec3 b) {
  yw_dvec3 c = yw_dcross(a, b);
  return yw_ddot(c, c) < PARALLEL;
}

// Axes --------------------------------------------------------------------------------------------

// A right-handed frame with the given first axis; the second is the face nearest to perpendicular,
// else a coordinate axis.
static void complete_frame(const yw_flat_faces* faces, yw_dvec3 first, yw_dvec3 out[3]) {
  yw_dvec3 second = {0.0, 0.0, 0.0};
  double most = -1.0;
  for (int32_t i = 0; i < faces->count; ++i) {
    const yw_flat_face* face = &faces->items[i];
    if (fabs(yw_ddot(face->normal, first)) > 1e-3 || face->area <= most) continue;
    second = face->normal;
    most = face->area;
  }
  if (most < 0.0) {
    double x = fabs(first.x), y = fabs(first.y), z = fabs(first.z);
    second = (yw_dvec3){x <= y && x <= z, y < x && y <= z, z < x && z < y};
  }
  second = yw_dmad(second, -yw_ddot(second, first), first);
  out[0] = first;
  out[1] = yw_dscale(second, 1.0 / yw_dlength(second));
  out[2] = yw_dcross(out[0], out[1]);
}

// Snaps a frame that is the coordinate axes in another order or sign to these axes.
static void straighten_frame(yw_dvec3 frame[3]) {
  const yw_dvec3 world[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  int matches = 0;
  for (int n = 0; n < 9; ++n) matches += is_parallel(frame[n / 3], world[n % 3]);
  for (int n = 0; n < 3 && matches == 3; ++n) frame[n] = world[n];
}

static double aligned_area(const yw_flat_faces* faces, const yw_dvec3 frame[3]) {
  double area = 0.0;
  for (int32_t i = 0; i < faces->count; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      if (is_parallel(faces->items[i].normal, frame[axis])) area += faces->items[i].area;
    }
  }
  return area;
}

// The frame to which most of the flat area is parallel.
#define MAX_CANDIDATES 64
static void choose_frame(const yw_flat_faces* faces, yw_dvec3 out[3]) {
  yw_dvec3 tried[MAX_CANDIDATES];
  int num_tried = 0;
  double best = -1.0;
  for (int32_t i = 0; i < faces->count && num_tried < MAX_CANDIDATES; ++i) {
    bool known = false;
    for (int n = 0; n < num_tried && !known; ++n)
      known = is_parallel(tried[n], faces->items[i].normal);
    if (known) continue;
    tried[num_tried++] = faces->items[i].normal;
    yw_dvec3 frame[3];
    complete_frame(faces, faces->items[i].normal, frame);
    straighten_frame(frame);
    double area = aligned_area(faces, frame);
    if (area <= best * (1.0 + 1e-9)) continue;
    best = area;
    for (int axis = 0; axis < 3; ++axis) out[axis] = frame[axis];
  }
}

// Planes ------------------------------------------------------------------------------------------

static int compare_planes(const void* a, const void* b) {
  double x = ((const flat_plane*)a)->at, y = ((const flat_plane*)b)->at;
  return x < y ? -1 : x > y;
}

// The coordinates of the faces across an axis, between the ends of the shape, sorted.
static void list_planes(const yw_flat_faces* faces, yw_dvec3 axis, double lower, double upper,
                        double tolerance, plane_list* out) {
  out->count = 0;
  for (int32_t i = 0; i < faces->count; ++i) {
    const yw_flat_face* face = &faces->items[i];
    if (!is_parallel(face->normal, axis)) continue;
    double at = yw_ddot(face->normal, axis) > 0.0 ? face->offset : -face->offset;
    if (at < lower - tolerance || at > upper + tolerance) continue;
    out->items[out->count++] = (flat_plane){at, face->area};
  }
  qsort(out->items, (size_t)out->count, sizeof *out->items, compare_planes);
  int32_t kept = 0;
  for (int32_t n = 0; n < out->count; ++n) {
    if (kept > 0 && out->items[n].at - out->items[kept - 1].at <= tolerance) {
      out->items[kept - 1].area += out->items[n].area;
    } else {
      out->items[kept++] = out->items[n];
    }
  }
  out->count = kept;
}

// Of the two closest planes, drops the one of less area until all are far enough apart.
static void drop_crowded_planes(plane_list* list, double least) {
  while (list->count > 1) {
    int32_t closest = 1;
    for (int32_t n = 2; n < list->count; ++n) {
      double gap = list->items[n].at - list->items[n - 1].at;
      if (gap < list->items[closest].at - list->items[closest - 1].at) closest = n;
    }
    if (list->items[closest].at - list->items[closest - 1].at >= least) return;
    int32_t drop =
        list->items[closest].area < list->items[closest - 1].area ? closest : closest - 1;
    for (int32_t n = drop; n + 1 < list->count; ++n) list->items[n] = list->items[n + 1];
    --list->count;
  }
}

static int32_t cells_between(double gap, double spacing) {
  double cells = ceil(gap / spacing - (WIDEST_CELL - 1.0));
  return cells > 1.0 ? (int32_t)fmin(cells, 1e8) : 1;
}

// Divides the gaps between planes into equal cells. Without planes the lattice is centred.
static yw_status divide_axis(const yw_allocator* mem, const plane_list* list, double middle,
                             yw_lattice_axis* axis) {
  int64_t count = 1;
  for (int32_t n = 1; n < list->count; ++n) {
    count += cells_between(list->items[n].at - list->items[n - 1].at, axis->spacing);
  }
  if (count > INT32_MAX / 2) return YW_ERR_MEMORY;
  axis->planes = YW_NEW_ARRAY(mem, double, count);
  if (axis->planes == NULL) return YW_ERR_MEMORY;
  axis->planes[0] = list->count > 0 ? list->items[0].at : middle;
  axis->count = 1;
  for (int32_t n = 1; n < list->count; ++n) {
    double from = list->items[n - 1].at, gap = list->items[n].at - from;
    int32_t cells = cells_between(gap, axis->spacing);
    for (int32_t k = 1; k < cells; ++k) axis->planes[axis->count++] = from + gap * k / cells;
    axis->planes[axis->count++] = list->items[n].at;
  }
  return YW_OK;
}

// The plane that divides a gap: a face near the middle, of those the largest, else the middle.
static double divide_gap(const plane_list* faces, double low, double high, double narrowest) {
  double gap = high - low, least = fmax(NEAR_MIDDLE * gap, narrowest), most = -1.0;
  double at = low + 0.5 * gap;
  for (int32_t n = 0; n < faces->count; ++n) {
    const flat_plane* face = &faces->items[n];
    if (face->at < low + least || face->at > high - least || face->area <= most) continue;
    at = face->at;
    most = face->area;
  }
  return at;
}

// Divides every gap of an axis into two.
static yw_status halve_axis(const yw_allocator* mem, const plane_list* faces,
                            yw_lattice_axis* axis) {
  if (axis->count > INT32_MAX / 4) return YW_ERR_MEMORY;
  double* planes = YW_NEW_ARRAY(mem, double, 2 * axis->count - 1);
  if (planes == NULL) return YW_ERR_MEMORY;
  axis->spacing *= 0.5;
  for (int32_t n = 0; n < axis->count; ++n) {
    planes[2 * n] = axis->planes[n];
    if (n + 1 == axis->count) break;
    planes[2 * n + 1] =
        divide_gap(faces, axis->planes[n], axis->planes[n + 1], NARROWEST_CELL * axis->spacing);
  }
  yw_mem_free(mem, axis->planes);
  axis->planes = planes;
  axis->count = 2 * axis->count - 1;
  return YW_OK;
}

static yw_status align_axis(const yw_shape* shape, const yw_flat_faces* faces, int32_t levels,
                            plane_list* list, yw_lattice_axis* axis, yw_alignment* out) {
  const double up[3] = {axis->direction.x, axis->direction.y, axis->direction.z};
  const double down[3] = {-up[0], -up[1], -up[2]};
  double upper = yw_shape_support(shape, up, 0.0), lower = -yw_shape_support(shape, down, 0.0);
  list_planes(faces, axis->direction, lower, upper, 1e-5 * axis->spacing, list);
  drop_crowded_planes(list, NARROWEST_CELL * axis->spacing);
  yw_status status = divide_axis(&out->mem, list, 0.5 * (lower + upper), axis);
  for (int32_t n = 1; n < axis->count && status == YW_OK; ++n) {
    out->widest = fmax(out->widest, axis->planes[n] - axis->planes[n - 1]);
  }
  // Faces that were dropped because they are too close to others get planes of finer levels.
  if (levels > 0) list_planes(faces, axis->direction, lower, upper, 1e-5 * axis->spacing, list);
  for (int32_t n = 0; n < levels && status == YW_OK; ++n) {
    status = halve_axis(&out->mem, list, axis);
  }
  return status;
}

yw_status yw_alignment_create(const yw_allocator* mem, const yw_shape* shape, double spacing,
                              int32_t levels, yw_alignment* out) {
  *out = (yw_alignment){0};
  yw_alignment a = {.mem = yw_mem_or_default(mem), .widest = spacing};
  yw_flat_faces faces = {0};
  plane_list list = {0};
  yw_status status = yw_shape_flat_faces(&a.mem, shape, &faces) ? YW_OK : YW_ERR_MEMORY;
  if (status == YW_OK && faces.count > 0) {
    yw_dvec3 frame[3];
    choose_frame(&faces, frame);
    list.items = YW_NEW_ARRAY(&a.mem, flat_plane, faces.count);
    if (list.items == NULL) status = YW_ERR_MEMORY;
    for (int n = 0; n < 3 && status == YW_OK; ++n) {
      a.axis[n] = (yw_lattice_axis){.direction = frame[n], .spacing = spacing};
      status = align_axis(shape, &faces, levels, &list, &a.axis[n], &a);
    }
    yw_mem_free(&a.mem, list.items);
  }
  YW_LIST_FREE(&a.mem, &faces);
  if (status == YW_OK) {
    *out = a;
  } else {
    yw_alignment_free(&a);
  }
  return status;
}

void yw_alignment_free(yw_alignment* alignment) {
  for (int n = 0; n < 3; ++n) yw_mem_free(&alignment->mem, alignment->axis[n].planes);
  *alignment = (yw_alignment){0};
}
