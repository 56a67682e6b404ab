// SPDX-License-Identifier: MIT
// Headless Chromium with a page of the site, which fails on errors of the console.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');

/** How long a test waits for something, ms: long enough for a busy machine, beside the gallery. */
export const PATIENCE = 1000 * Number(process.env.YW_PATIENCE ?? 240);

/** A name for this machine that browsers do not trust: no service workers, no isolation. */
export const STRANGER = 'stranger.test';

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--no-first-run', `--host-resolver-rules=MAP ${STRANGER} 127.0.0.1`],
  });
}

/** Opens an address; page.problems collects what the console complains about. */
export async function openPage(browser, address, options = {}) {
  // Half as many pixels across: the software renderer takes a quarter of the time.
  const context = await browser.newContext({ viewport: { width: 960, height: 600 }, deviceScaleFactor: 0.5, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.problems = [];
  page.on('console', (message) => {
    // The software renderer of the tests says that reading pixels is slow.
    if (['error', 'warning'].includes(message.type()) && !/GPU stall|swiftshader/i.test(message.text())) page.problems.push(message.text());
  });
  page.on('pageerror', (error) => page.problems.push(String(error)));
  await page.goto(address, { waitUntil: 'commit' });
  return page;
}

/** A page with a scene that runs; query as in the address. */
export async function open({ browser, site }, query) {
  const page = await openPage(browser, `${site.address}${query}`);
  await page.waitForFunction(() => window.yawara?.scene && window.yawara.report);
  return page;
}

/** Drops files on the page together: names and contents. */
export const drop = (page, ...files) =>
  page.evaluate(
    (list) => {
      const data = new DataTransfer();
      for (const [name, bytes] of list) data.items.add(new File([new Uint8Array(bytes)], name));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    files.map(([name, content]) => [name, [...Buffer.from(content)]]),
  );

/** Nothing may have gone wrong on the page. */
export async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

/** Waits until a picture has been drawn. */
export const firstPicture = (page) => page.waitForSelector('#canvas[data-shown]');

/** Waits until the page has reached a frame and paused there; returns the hash that it shows. */
export async function hashAt(page, frame) {
  await page.waitForFunction((n) => Number(document.querySelector('#canvas').dataset.frame) === n, frame);
  return page.textContent('#hash');
}

/** The numbers of the last step. */
export const report = (page) => page.evaluate(() => window.yawara.report);

/** A place of the view where a body is under the pointer, with the pointer there. */
export async function findBody(page) {
  const box = await page.locator('#canvas').boundingBox();
  for (let row = 0.3; row < 0.9; row += 0.1) {
    for (let column = 0.5; column < 0.9; column += 0.1) {
      const place = [box.x + column * box.width, box.y + row * box.height];
      await page.mouse.move(...place);
      if (await page.evaluate(() => document.querySelector('#canvas').classList.contains('over'))) return place;
    }
  }
  throw new Error('no body is under the pointer anywhere');
}
