// SPDX-License-Identifier: MIT
// The core in the browser has the same bits as the program, with and without threads.
import assert from 'node:assert/strict';
import { close, hashAt, open, openPage, report } from './browser.mjs';
import { nativeHash } from './program.mjs';

const FRAMES = 60;

/** Opens every scene of the gallery in one page, while the program runs the same. */
async function everySceneHasTheSameHash(on) {
  const page = await open(on, '?scene=first&at=0');
  const entries = await page.evaluate(() => fetch('gallery.json').then((response) => response.json()));
  assert.ok(entries.length >= 30, `the gallery has ${entries.length} scenes`);
  for (const { name, picture } of entries) {
    assert.ok(picture, `${name} has no picture: scripts/web_thumbnails.sh draws it`);
    const native = nativeHash(`scenes/gallery/${name}.json`, FRAMES, '-t', '1');
    // Without loading the page again: as going back in the history does.
    await page.evaluate((address) => {
      window.yawara.scene = window.yawara.report = undefined;
      history.pushState(null, '', address);
      dispatchEvent(new PopStateEvent('popstate'));
    }, `?scene=${name}&at=${FRAMES}`);
    await page.waitForFunction(([scene, n]) => window.yawara.scene && window.yawara.session.name === scene && window.yawara.report?.frame === n, [name, FRAMES], { timeout: 240_000 });
    const { kinetic } = await report(page);
    assert.ok(kinetic > 0, `${name} does not move`);
    assert.equal(await page.textContent('#hash'), await native, `${name} after ${FRAMES} frames`);
  }
  await close(page);
}

async function oneThreadHasTheSameHash({ browser, plainSite }) {
  const native = nativeHash('scenes/gallery/twist.json', FRAMES);
  const page = await openPage(browser, `${plainSite.address}?scene=twist&at=${FRAMES}&threads=1`);
  assert.equal(await hashAt(page, FRAMES), await native);
  assert.equal(await page.evaluate(() => document.body.dataset.threads), '1');
  await close(page);
}

export const tests = [
  ['every scene of the gallery starts, moves and has the same hash as the program', everySceneHasTheSameHash],
  ['same hash with one thread, in a page that is not isolated', oneThreadHasTheSameHash],
];
