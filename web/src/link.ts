// SPDX-License-Identifier: MIT
// The address says what is shown: ?scene=twist&set=bodies[1].match.beta=0.5&at=60
import type { Change } from './protocol';

/** What `yawara view` serves: a run, what it simulates, or a scene for the page to run. '': nothing. */
export type View = 'run' | 'live' | 'scene' | '';

export interface Link {
  view: View;
  scene: string;
  changes: Change[];
  /** Run to this frame and pause; -1: play. */
  at: number;
  /** Threads to use; 0: as many as there are. */
  threads: number;
}

export function readLink(search: string): Link {
  const query = new URLSearchParams(search);
  const changes: Change[] = [];
  for (const set of query.getAll('set')) {
    const equal = set.indexOf('=');
    if (equal > 0) changes.push({ path: set.slice(0, equal), value: set.slice(equal + 1) });
  }
  const at = Number.parseInt(query.get('at') ?? '', 10);
  const threads = Number.parseInt(query.get('threads') ?? '', 10);
  const view = (['run', 'live', 'scene'] as const).find((one) => one === query.get('view')) ?? '';
  return { view, scene: query.get('scene') ?? '', changes, at: at >= 0 ? at : -1, threads: threads > 0 ? threads : 0 };
}

export function writeLink(link: Link): string {
  const query = new URLSearchParams();
  if (link.view) query.set('view', link.view);
  else if (link.scene) query.set('scene', link.scene);
  for (const change of link.changes) query.append('set', `${change.path}=${change.value}`);
  if (link.at >= 0) query.set('at', String(link.at));
  if (link.threads > 0) query.set('threads', String(link.threads));
  const text = query.toString();
  return text ? `?${text}` : location.pathname;
}
