// SPDX-License-Identifier: MIT
// The program, run beside the page.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** What another program prints. */
export const ask = async (program, ...words) => (await execute(program, words, { encoding: 'utf8', maxBuffer: 1e8 })).stdout;
export const yawara = (...words) => ask('build/yawara', ...words);

/** Seconds that a process, those that it started, and those that have ended since had of the processors. */
export function processorTime(pid) {
  const children = new Map();
  const seconds = new Map();
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const words = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1).split(' ').map(Number);
      children.set(words[1], [...(children.get(words[1]) ?? []), Number(name)]);
      seconds.set(Number(name), (words[11] + words[12] + words[13] + words[14]) / 100);
    } catch {
      // It has ended meanwhile.
    }
  }
  const sum = (one) => (seconds.get(one) ?? 0) + (children.get(one) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(pid);
}

/** Runs a test with a folder of its own. */
export async function withFolder(test) {
  const folder = mkdtempSync(join(tmpdir(), 'yawara-'));
  try {
    return await test(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The hash that yawara run prints. */
export const nativeHash = (scene, frames, ...options) =>
  withFolder(async (folder) => {
    const text = await yawara('run', scene, '-n', String(frames), '-o', join(folder, 'run'), ...options);
    return /state ([0-9a-f]{16})/.exec(text)[1];
  });
