// SPDX-License-Identifier: MIT
// Random clicking leaves no error, and memory flat. With YW_TEST_FULL ten minutes, else 10 seconds; YW_MONKEY: seconds.
import assert from 'node:assert/strict';
import { firstPicture, openPage } from './browser.mjs';

const SECONDS = Number(process.env.YW_MONKEY ?? (process.env.YW_TEST_FULL ? 600 : 10));
// An action that gives nothing to do takes a moment all the same, so that steps happen in between.
const PAUSE = 30;
const SEED = 7;
const SCENES = ['first', 'twist', 'handles', 'slope', 'rope'];

/** Numbers from 0 to 1, always the same. */
function makeRandom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Bytes that the core has taken, and that the page's objects take after a cleaning. */
async function memory(page) {
  const inspector = await page.context().newCDPSession(page);
  await inspector.send('HeapProfiler.collectGarbage');
  const { usedSize } = await inspector.send('Runtime.getHeapUsage');
  await inspector.detach();
  return { core: await page.evaluate(() => window.yawara.memory), page: usedSize };
}
const megabytes = ({ core, page }) => `${Math.round(core / 1e6)} MB of the core and ${(page / 1e6).toFixed(1)} MB of the page`;

/** Every scene once, which takes the memory that it needs. */
async function visitAll(page) {
  for (const scene of SCENES) {
    await page.evaluate((name) => document.querySelector(`#gallery a[href="?scene=${name}"]`).click(), scene);
    await page.waitForFunction((name) => window.yawara.scene?.name === name && window.yawara.report, scene);
  }
}

async function act(page, box, random) {
  const place = () => [box.x + random() * box.width, box.y + (0.15 + 0.6 * random()) * box.height];
  const kind = Math.floor(random() * 9);
  if (kind === 0) await page.keyboard.press('porsh'[Math.floor(random() * 5)]);
  else if (kind === 1) await page.evaluate((name) => document.querySelector(`#gallery a[href="?scene=${name}"]`).click(), SCENES[Math.floor(random() * SCENES.length)]);
  else if (kind === 2) await page.mouse.click(...place(), { button: 'right' });
  // Any button of the panel: poses, paint, undo, what is inside. Downloads and files are left out.
  else if (kind === 6 || kind === 7) await page.evaluate((share) => {
    const buttons = [...document.querySelectorAll('#panel button:not(:disabled), #panel input[type=checkbox], #panel summary')].filter((one) => one.offsetParent && !one.closest('.save'));
    buttons[Math.floor(share * buttons.length)]?.click();
  }, random());
  else if (kind === 8) await page.keyboard.press(random() < 0.6 ? 'Control+z' : 'Control+Shift+z');
  else if (kind === 3) await page.evaluate((share) => {
    const sliders = [...document.querySelectorAll('#panel input[type=range]')];
    const slider = sliders[Math.floor(share * sliders.length)];
    const low = Number(slider?.min || 0);
    if (slider) slider.value = String(low + share * (Number(slider.max) - low));
    slider?.dispatchEvent(new Event('input', { bubbles: true }));
    slider?.dispatchEvent(new Event('change', { bubbles: true }));
  }, random());
  else {
    await page.mouse.move(...place());
    await page.mouse.down();
    await page.mouse.move(...place());
    await page.mouse.up();
  }
}

async function randomClicking({ browser, site }) {
  const page = await openPage(browser, `${site.address}?scene=first`, { viewport: { width: 900, height: 480 } });
  await firstPicture(page);
  await page.waitForSelector('#gallery a');
  const random = makeRandom(SEED);
  await visitAll(page);
  const before = await memory(page);
  const box = await page.locator('#canvas').boundingBox();
  const end = Date.now() + 1000 * SECONDS;
  let actions = 0;
  for (; Date.now() < end; ++actions) {
    await act(page, box, random);
    await page.waitForTimeout(PAUSE);
  }
  await visitAll(page);
  const after = await memory(page);
  console.log(`# ${actions} actions in ${SECONDS} s; memory: ${megabytes(before)} before, ${megabytes(after)} after`);
  assert.ok(after.core <= 1.3 * before.core, `the core took ${before.core} bytes before and ${after.core} after ${actions} actions`);
  // Steps that can be undone are kept, up to a number.
  assert.ok(after.page <= 2 * before.page + 20e6, `the page took ${before.page} bytes before and ${after.page} after ${actions} actions`);
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

export const tests = [['random clicking leaves no error and memory flat', randomClicking]];
