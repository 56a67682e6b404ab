// SPDX-License-Identifier: MIT
// The core in the browser has the same bits as the program, with and without threads.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashAt, openPage } from './browser.mjs';

// At least one of each method, light enough for a test.
const SCENES = ['first', 'twist', 'handles', 'rope', 'gelatin_and_silicone', 'inclusions', 'ice_cream', 'robot_hand'];
const FRAMES = 60;

/** The hash that yawara run prints. */
export function nativeHash(scene, frames, ...options) {
  const folder = mkdtempSync(join(tmpdir(), 'yawara-'));
  const text = execFileSync('build/yawara', ['run', scene, '-n', String(frames), '-o', join(folder, 'run'), ...options], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  rmSync(folder, { recursive: true });
  return /state ([0-9a-f]{16})/.exec(text)[1];
}

async function sameHash({ browser, site, plainSite }, scene, isolated) {
  const address = (isolated ? site : plainSite).address;
  const native = nativeHash(`scenes/gallery/${scene}.json`, FRAMES);
  const page = await openPage(browser, `${address}?scene=${scene}&at=${FRAMES}${isolated ? '' : '&threads=1'}`);
  assert.equal(await hashAt(page, FRAMES), native);
  const threads = await page.evaluate(() => Number(document.body.dataset.threads));
  assert.equal(threads > 1, isolated);
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

export const tests = [
  ...SCENES.map((scene) => [`${scene}: same hash as the program after ${FRAMES} frames`, (on) => sameHash(on, scene, true)]),
  ['twist: same hash with one thread, in a page that is not isolated', (on) => sameHash(on, 'twist', false)],
];
