// SPDX-License-Identifier: MIT
// Elements of index.html by their id.
export function find<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

/** Fills a button with its picture and connects it. */
export function button(id: string, content: string, act: () => void): void {
  find(id).innerHTML = content;
  find(id).addEventListener('click', act);
}
