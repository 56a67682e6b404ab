// SPDX-License-Identifier: MIT
// The core in the browser has the same bits as the program, with and without threads.
import assert from 'node:assert/strict';
import { STRANGER, close, hashAt, open, openPage, report } from './browser.mjs';
import { nativeHash } from './program.mjs';

const FRAMES = 60;
/** These eight take longer than all others together. */
const FRAMES_OF_LONG = 30;
const LONG = new Set(['bumper', 'cake', 'carrot', 'chocolate', 'clay_on_jelly', 'glaze', 'ice_cream', 'materials']);

/** Opens every second scene of the gallery in one page, while the program runs the same. */
async function scenesHaveTheSameHash(on, odd) {
  const page = await open(on, '?scene=first&at=0');
  const entries = await page.evaluate(() => fetch('gallery.json').then((response) => response.json()));
  assert.ok(entries.length >= 30, `the gallery has ${entries.length} scenes`);
  for (const { name, picture } of entries.filter((_, i) => i % 2 === odd)) {
    const frames = LONG.has(name) ? FRAMES_OF_LONG : FRAMES;
    assert.ok(picture, `${name} has no picture: scripts/web_thumbnails.sh draws it`);
    const native = nativeHash(`scenes/gallery/${name}.json`, frames, '-t', '1');
    // Without loading the page again: as going back in the history does.
    await page.evaluate((address) => {
      window.yawara.scene = window.yawara.report = undefined;
      history.pushState(null, '', address);
      dispatchEvent(new PopStateEvent('popstate'));
    }, `?scene=${name}&at=${frames}`);
    await page.waitForFunction(([scene, n]) => window.yawara.scene && window.yawara.session.name === scene && window.yawara.report?.frame === n, [name, frames]);
    const { kinetic } = await report(page);
    assert.ok(kinetic > 0, `${name} does not move`);
    assert.equal(await page.textContent('#hash'), await native, `${name} after ${frames} frames`);
  }
  await close(page);
}

/** A host that sends no headers: a service worker brings threads; where browsers allow none, there is one thread. */
async function hostsWithoutHeaders({ browser, plainSite }) {
  const native = await nativeHash('scenes/gallery/twist.json', FRAMES);
  const query = `?scene=twist&at=${FRAMES}`;
  const threads = (page) => page.evaluate(() => [crossOriginIsolated, Number(document.body.dataset.threads)]);
  const poor = await openPage(browser, plainSite.address.replace('127.0.0.1', STRANGER) + query);
  assert.equal(await hashAt(poor, FRAMES), native);
  assert.deepEqual(await threads(poor), [false, 1]);
  await close(poor);
  const rich = await openPage(browser, plainSite.address + query);
  await rich.waitForFunction(() => crossOriginIsolated);
  assert.equal(await hashAt(rich, FRAMES), native);
  assert.deepEqual(await threads(rich), [true, Math.min(await rich.evaluate(() => navigator.hardwareConcurrency), 8)]);
  await close(rich);
}

export const tests = [
  ['every other scene of the gallery starts, moves and has the same hash as the program', (on) => scenesHaveTheSameHash(on, 0)],
  ['the other scenes of the gallery start, move and have the same hash as the program', (on) => scenesHaveTheSameHash(on, 1)],
  ['same hash with one thread where the page cannot be isolated, with threads where a service worker can do it', hostsWithoutHeaders],
];
