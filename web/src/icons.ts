// SPDX-License-Identifier: MIT
// Pictures on buttons, 24 by 24.
const svg = (path: string): string => `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"/></svg>`;

export const icons = {
  play: svg('M7 4v16l13-8z'),
  pause: svg('M6 4h4v16H6zM14 4h4v16h-4z'),
  step: svg('M4 4v16l11-8zM17 4h3v16h-3z'),
  restart: svg('M12 5V1L6 6l6 5V7a5.5 5.5 0 1 1-5.5 5.5H4.2A7.8 7.8 0 1 0 12 5z'),
  home: svg('M12 3 2 12h3v8h5v-6h4v6h5v-8h3z'),
};
