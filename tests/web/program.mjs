// SPDX-License-Identifier: MIT
// The program, run beside the page.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** What another program prints. */
export const ask = async (program, ...words) => (await execute(program, words, { encoding: 'utf8', maxBuffer: 1e8 })).stdout;
export const yawara = (...words) => ask('build/yawara', ...words);

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
