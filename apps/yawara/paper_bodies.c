// SPDX-License-Identifier: MIT
#include "paper.h"
yw_status paper_fig6(const paper_options* o, yw_error* e) {
  (void)o;
  (void)e;
  return 0;
}
yw_status paper_fig8(const paper_options* o, yw_error* e) {
  (void)o;
  (void)e;
  return 0;
}
yw_status paper_fig9(const paper_options* o, yw_error* e) {
  (void)o;
  (void)e;
  return 0;
}
yw_status paper_fig10(const paper_options* o, yw_error* e) {
  (void)o;
  (void)e;
  return 0;
}
yw_status paper_table1(const paper_options* o, yw_error* e) {
  (void)o;
  (void)e;
  return 0;
}
