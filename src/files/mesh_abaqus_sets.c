// SPDX-License-Identifier: MIT
#include <inttypes.h>

#include "files/mesh_abaqus.h"

// Names are looked up one by one.
#define MOST_SETS 10000

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool same_name(yw_span a, yw_span b) {
  if (yw_span_size(a) != yw_span_size(b)) return false;
  for (size_t i = 0; i < yw_span_size(a); ++i)
    if (lower(a.begin[i]) != lower(b.begin[i])) return false;
  return true;
}

static int32_t find_set(const yw_element_sets* sets, yw_span name) {
  for (int32_t i = 0; i < sets->sets.count; ++i)
    if (same_name(sets->sets.items[i].name, name)) return i;
  return -1;
}

int32_t yw_set_named(yw_element_sets* sets, yw_scan* scan, const yw_allocator* mem, yw_span name) {
  int32_t found = find_set(sets, name);
  if (found >= 0) return found;
  if (sets->sets.count >= MOST_SETS) {
    yw_scan_fail(scan, "the file has more than %d sets of elements", MOST_SETS);
    return -1;
  }
  yw_element_set set = {.name = name};
  return YW_PUSH(mem, scan, &sets->sets, set) ? sets->sets.count - 1 : -1;
}

bool yw_set_add(yw_element_sets* sets, yw_scan* scan, const yw_allocator* mem, yw_set_range range) {
  int32_t count = sets->ranges.count;
  yw_set_range* last = count > 0 ? &sets->ranges.items[count - 1] : NULL;
  // Elements usually come in ascending order.
  if (last && last->set == range.set && last->step == 1 && range.first == range.last &&
      last->last < INT64_MAX && range.first == last->last + 1) {
    last->last = range.last;
    return true;
  }
  // Sets of sets may double with every line.
  if ((size_t)count > (size_t)(scan->end - scan->begin) / 4 + 16)
    return yw_scan_fail(scan, "the sets of elements contain each other too often");
  return YW_PUSH(mem, scan, &sets->ranges, range);
}

bool yw_set_add_set(yw_element_sets* sets, yw_scan* scan, const yw_allocator* mem, int32_t to,
                    yw_span from) {
  int32_t source = find_set(sets, from), count = sets->ranges.count;
  if (source < 0)
    return yw_scan_fail(scan, "there is no set of elements \"%.*s\" before this line",
                        yw_span_shown(from), from.begin);
  for (int32_t i = 0; i < count && source != to; ++i) {
    yw_set_range range = sets->ranges.items[i];
    if (range.set != source) continue;
    range.set = to;
    if (!yw_set_add(sets, scan, mem, range)) return false;
  }
  return true;
}

// Which sets become labels: those of sections, else those of *ELEMENT, else those of *ELSET.
typedef enum set_use { USE_SECTIONS, USE_ELEMENTS, USE_LISTS } set_use;

static bool used_as(const yw_element_set* set, set_use use) {
  return use == USE_SECTIONS ? set->section : use == USE_ELEMENTS ? !set->listed : set->listed;
}

static int32_t num_used(const yw_element_sets* sets, set_use use) {
  int32_t count = 0;
  for (int32_t i = 0; i < sets->sets.count; ++i) count += used_as(&sets->sets.items[i], use);
  return count;
}

// Labels the tets of a range that have none yet. *budget bounds the time for ranges that overlap.
static bool label_range(yw_mesh_build* build, const yw_tag_index* elements, yw_set_range range,
                        int32_t label, int64_t* budget) {
  int32_t count = elements->tags.count;
  // At most as many numbers as there are tets: from there on it is shorter to ask every tet.
  bool each_tet = (range.last - range.first) / range.step >= count;
  int64_t first = each_tet ? 0 : range.first, last = each_tet ? count - 1 : range.last;
  int64_t step = each_tet ? 1 : range.step;
  for (int64_t i = first; i <= last; i += step) {
    int64_t tet = each_tet ? i : yw_tag_find(elements, i);
    if (--*budget < 0) return false;
    if (tet < 0 || build->labels.items[tet] != 0) continue;
    int64_t tag = elements->tags.items[tet];
    bool inside = tag >= range.first && tag <= range.last && (tag - range.first) % range.step == 0;
    if (inside) build->labels.items[tet] = label;
  }
  return true;
}

bool yw_set_labels(const yw_element_sets* sets, yw_scan* scan, yw_mesh_build* build,
                   yw_tag_index* elements) {
  set_use use = num_used(sets, USE_SECTIONS) > 0   ? USE_SECTIONS
                : num_used(sets, USE_ELEMENTS) > 0 ? USE_ELEMENTS
                                                   : USE_LISTS;
  // One set for everything says nothing.
  if (elements->tags.count == 0 || num_used(sets, use) < 2) return true;
  if (!yw_tag_finish(elements, scan, &build->mem, "elements")) return false;
  int32_t* label_of_set = YW_NEW_ARRAY(&build->mem, int32_t, sets->sets.count);
  if (!label_of_set) return yw_scan_fail_memory(scan);
  for (int32_t i = 0, label = 0; i < sets->sets.count; ++i)
    if (used_as(&sets->sets.items[i], use)) label_of_set[i] = ++label;
  int64_t budget = 1000000 + 100 * (int64_t)(scan->end - scan->begin);
  bool good = yw_build_label(build, scan, 0);
  for (int32_t i = 0; i < sets->ranges.count && good; ++i) {
    yw_set_range range = sets->ranges.items[i];
    if (label_of_set[range.set] == 0) continue;
    good = label_range(build, elements, range, label_of_set[range.set], &budget) ||
           yw_scan_fail(scan, "the sets of elements overlap too often");
  }
  yw_mem_free(&build->mem, label_of_set);
  return good;
}

void yw_set_free(yw_element_sets* sets, const yw_allocator* mem) {
  YW_LIST_FREE(mem, &sets->sets);
  YW_LIST_FREE(mem, &sets->ranges);
}
