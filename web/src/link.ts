// SPDX-License-Identifier: MIT
// The address says what is shown: ?scene=twist&set=bodies[1].match.beta=0.5&at=60, and in #text= the scene itself where it is
// not that of the gallery.
import { base64, fromBase64 } from './base64';
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
  /** The scene's own text, packed; '': that of the gallery. */
  text: string;
}

export function readLink({ search, hash }: Pick<Location, 'search' | 'hash'>): Link {
  const query = new URLSearchParams(search);
  const changes: Change[] = [];
  for (const set of query.getAll('set')) {
    const equal = set.indexOf('=');
    if (equal > 0) changes.push({ path: set.slice(0, equal), value: set.slice(equal + 1) });
  }
  const at = Number.parseInt(query.get('at') ?? '', 10);
  const threads = Number.parseInt(query.get('threads') ?? '', 10);
  const view = (['run', 'live', 'scene'] as const).find((one) => one === query.get('view')) ?? '';
  const text = /^#text=([\w-]+)$/.exec(hash)?.[1] ?? '';
  return { view, scene: query.get('scene') ?? '', changes, at: at >= 0 ? at : -1, threads: threads > 0 ? threads : 0, text };
}

export function writeLink(link: Link): string {
  const query = new URLSearchParams();
  if (link.view) query.set('view', link.view);
  else if (link.scene) query.set('scene', link.scene);
  for (const change of link.changes) query.append('set', `${change.path}=${change.value}`);
  if (link.at >= 0) query.set('at', String(link.at));
  if (link.threads > 0) query.set('threads', String(link.threads));
  const words = query.toString();
  return (words ? `?${words}` : location.pathname) + (link.text ? `#text=${link.text}` : '');
}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** A text in letters that an address may have. */
export async function packText(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
  return base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** '' if it is damaged. */
export async function unpackText(packed: string): Promise<string> {
  try {
    const bytes = fromBase64(packed.replaceAll('-', '+').replaceAll('_', '/'));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')));
  } catch {
    return '';
  }
}
