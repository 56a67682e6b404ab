// SPDX-License-Identifier: MIT
// What a visitor sees and does.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { close, findBody, firstPicture, hashAt, openPage, report } from './browser.mjs';

const MAX_BYTES = 1.2e6;
const MAX_SECONDS = 2;

/** How much longer than alone a second of work takes now, because others use the machine. */
function slowdown() {
  const start = performance.now();
  const used = process.cpuUsage();
  while (performance.now() - start < 300);
  const own = process.cpuUsage(used);
  return Math.max(1, ((performance.now() - start) * 1000) / (own.user + own.system));
}

/** Opens a scene that waits at a frame. */
async function openPaused({ browser, site }, scene, frame, options) {
  const page = await openPage(browser, `${site.address}?scene=${scene}&at=${frame}`, options);
  await hashAt(page, frame);
  await page.waitForFunction((n) => window.yawara.stage.frame?.number === n, frame);
  return page;
}

async function startsQuicklyAndSmall({ browser, site }) {
  // A browser that has just been started itself gets its graphics ready first.
  const before = await openPage(browser, site.address);
  await firstPicture(before);
  await close(before);
  site.sent.clear();
  const factor = slowdown();
  const page = await openPage(browser, site.address);
  await firstPicture(page);
  const seconds = await page.evaluate(() => performance.getEntriesByName('first picture')[0].startTime / 1000);
  const code = [...site.sent].filter(([path]) => !path.startsWith('/thumbs'));
  const bytes = code.reduce((sum, [, size]) => sum + size, 0);
  console.log(`# first picture after ${seconds.toFixed(2)} s (machine ${factor.toFixed(1)} times slower than alone), ${Math.round(bytes / 1000)} kB`);
  assert.ok(bytes <= MAX_BYTES, `page and core are ${bytes} bytes, but may be ${MAX_BYTES}`);
  assert.ok(seconds <= MAX_SECONDS * factor, `the first picture came after ${seconds} s, but should after ${MAX_SECONDS} s`);
  await close(page);
}

/** Steps to a frame; returns how high the centres of the bodies are then. */
async function heightsAt(page, frame) {
  for (let { frame: now } = await report(page); now < frame; ++now) await page.keyboard.press('o');
  await hashAt(page, frame);
  return (await report(page)).bodies.map((body) => body.center[1]);
}

async function grabMovesTheBody(on) {
  const page = await openPaused(on, 'twist', 20);
  const before = await heightsAt(page, 20);
  const [x, y] = await findBody(page);
  await page.mouse.down();
  await page.mouse.move(x, y - 160, { steps: 4 });
  const held = await heightsAt(page, 28);
  // Thrown: it rises on when it is let go.
  await page.mouse.up();
  const after = await heightsAt(page, 36);
  // The other body bounces meanwhile, by itself.
  const ahead = (to, from) => to[1] - from[1] - (to[0] - from[0]);
  assert.ok(ahead(held, before) > 0.05, `held, it rose by ${ahead(held, before)} m more than the other`);
  assert.ok(ahead(after, held) > 0.05, `let go, it rose by ${ahead(after, held)} m more than the other`);
  await close(page);
}

/** reset: how. */
async function viewIsReset(page, reset) {
  const eye = () => page.evaluate(() => window.yawara.stage.studio.camera.position.toArray());
  const before = await eye();
  const box = await page.locator('#canvas').boundingBox();
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 140, box.y + 60, { steps: 3 });
  await page.mouse.up();
  await page.waitForFunction(([x]) => Math.abs(window.yawara.stage.studio.camera.position.x - x) > 0.1, before);
  await reset();
  await page.waitForFunction((old) => old.every((value, k) => Math.abs(window.yawara.stage.studio.camera.position.getComponent(k) - value) < 1e-3), before);
}

async function keysAct(on) {
  const page = await openPaused(on, 'first', 5);
  await page.keyboard.press('o');
  await hashAt(page, 6);
  await page.keyboard.press('r');
  const start = await hashAt(page, 0);
  await page.keyboard.press('p');
  await page.waitForFunction(() => Number(document.querySelector('#canvas').dataset.frame) > 3);
  await page.keyboard.press('p');
  assert.notEqual(await page.textContent('#hash'), start);
  await page.keyboard.press('s');
  assert.equal(await page.inputValue('#speed'), '0.25');
  await page.keyboard.press('?');
  assert.ok(await page.isVisible('#help'));
  await page.keyboard.press('Escape');
  await page.focus('#canvas');
  await page.keyboard.press('Tab');
  assert.ok(!(await page.isVisible('#panel')));
  const next = await page.evaluate(() => {
    const names = [...document.querySelectorAll('#gallery a')].map((link) => new URL(link.href).searchParams.get('scene'));
    return names[names.indexOf('first') + 1];
  });
  await page.keyboard.press(']');
  await page.waitForFunction((name) => window.yawara.session.name === name, next);
  await page.keyboard.press('[');
  await page.waitForFunction(() => window.yawara.session.name === 'first');
  await viewIsReset(page, () => page.keyboard.press('Home'));
  await close(page);
}

async function buttonsAct(on) {
  const page = await openPaused(on, 'first', 5);
  await page.click('#step');
  await hashAt(page, 6);
  await page.click('#restart');
  await hashAt(page, 0);
  // With a tenth of the speed, three frames of 1/60 s take at least half a second.
  await page.selectOption('#speed', '0.1');
  const seconds = await page.evaluate(async () => {
    const start = performance.now();
    document.querySelector('#play').click();
    while (window.yawara.report.frame < 3) await new Promise((done) => setTimeout(done, 5));
    return (performance.now() - start) / 1000;
  });
  assert.ok(seconds > 0.4, `three frames took ${seconds} s`);
  await page.click('#play');
  await page.waitForFunction(() => document.querySelector('#play').getAttribute('aria-label') === 'Play');
  for (const name of ['gallery', 'panel']) {
    await page.click(`#open-${name}`);
    assert.ok(!(await page.isVisible(`#${name}`)));
    await page.click(`#open-${name}`);
    assert.ok(await page.isVisible(`#${name}`));
  }
  await page.check('#edges');
  await page.waitForFunction(() => window.yawara.stage.bodies[0].edges.visible);
  await page.click('#open-help');
  assert.match(await page.textContent('#help'), /Drag a body/);
  await page.keyboard.press('Escape');
  await viewIsReset(page, () => page.click('#home'));
  await close(page);
}

async function pinHolds(on) {
  const page = await openPaused(on, 'first', 0);
  const [x, y] = await findBody(page);
  await page.mouse.click(x, y, { button: 'right' });
  for (let i = 0; i < 40; ++i) await page.keyboard.press('o');
  await hashAt(page, 40);
  const { center } = (await report(page)).bodies[0];
  assert.ok(center[1] > 1.2, `a pinned cube fell to ${center[1]} m`);
  await close(page);
}

/** A place of the view with a body, in pixels. */
const placeOfABody = (page) =>
  page.evaluate(() => {
    const box = document.querySelector('#canvas').getBoundingClientRect();
    for (let row = 0.1; row < 0.9; row += 0.05) {
      for (let column = 0.1; column < 0.9; column += 0.05) {
        if (window.yawara.stage.touch(2 * column - 1, 1 - 2 * row)) return { x: box.x + column * box.width, y: box.y + row * box.height };
      }
    }
    throw new Error('no body is in the view');
  });

/** A finger that stays pins what is there. */
async function longPressPins(page) {
  const hand = await page.context().newCDPSession(page);
  await hand.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [await placeOfABody(page)] });
  await page.waitForFunction(() => window.yawara.stage.frame.pins.length === 1);
  await hand.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

async function fitsAPhone(on) {
  const page = await openPaused(on, 'twist', 5, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `the page is ${width} pixels wide`);
  await longPressPins(page);
  await page.click('#open-gallery');
  assert.ok(await page.isVisible('#gallery'));
  await page.click('#gallery a[href="?scene=rope"]');
  await page.waitForFunction(() => document.querySelector('#title').textContent === 'rope');
  assert.ok(!(await page.isVisible('#gallery')));
  await close(page);
}

/** Points of one sample of a PC2 file. */
function readPointCache(file, sample) {
  const bytes = readFileSync(file);
  const count = bytes.readInt32LE(16);
  return Array.from({ length: 3 * count }, (_, i) => bytes.readFloatLE(32 + 12 * count * sample + 4 * i));
}

async function deformingObstaclesMove(on) {
  const page = await openPaused(on, 'wave', 30);
  // Half a second, with 12 samples a second: sample 6.
  const wanted = readPointCache('scenes/gallery/wave.pc2', 6);
  const most = await page.evaluate((points) => {
    const { scene, stage } = window.yawara;
    const index = scene.obstacles.findIndex((one) => one.name === 'trough');
    const { positions } = stage.frame.obstacles[index];
    return Math.max(...Array.from(positions, (x, i) => Math.abs(x - points[3 * scene.obstacles[index].source[Math.floor(i / 3)] + (i % 3)])));
  }, wanted);
  assert.ok(most < 1e-5, `the trough is ${most} m away from where it should be`);
  await close(page);
}

async function namesForScreenReaders(on) {
  const page = await openPaused(on, 'twist', 1);
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, input, canvas:not([aria-hidden]), a')]
      .filter((one) => !one.getAttribute('aria-label') && !one.textContent.trim() && !one.labels?.length)
      .map((one) => one.outerHTML.slice(0, 80)),
  );
  assert.deepEqual(nameless, []);
  await close(page);
  // Who asked for less motion gets none unasked.
  const still = await openPage(on.browser, `${on.site.address}?scene=twist`, { reducedMotion: 'reduce' });
  await hashAt(still, 0);
  assert.equal(await still.getAttribute('#play', 'aria-label'), 'Play');
  await still.click('#play');
  await still.waitForFunction(() => window.yawara.report.frame > 3);
  await close(still);
}

export const tests = [
  ['starts within 2 s and 1.2 MB', startsQuicklyAndSmall, { alone: true }],
  ['a grabbed body moves and is thrown, others do not', grabMovesTheBody],
  ['keys act', keysAct],
  ['buttons act', buttonsAct],
  ['a pin holds', pinHolds],
  ['fits a phone, and a long press pins', fitsAPhone],
  ['deforming obstacles move', deformingObstaclesMove],
  ['everything has a name for screen readers; less motion where it is wished', namesForScreenReaders],
];
