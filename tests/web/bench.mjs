// SPDX-License-Identifier: MIT
// Frames per second of three scenes in the browser beside the program, in one run and in turn; and of a heavy body that the
// program simulates for the page.
// usage: node tests/web/bench.mjs [THREADS]      from the root, after make web; build/yawara must exist
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstPicture, hashAt, launch, openPage } from './browser.mjs';
import { processorTime, withFolder } from './program.mjs';
import { serve } from './server.mjs';
import { view } from './test_view.mjs';

const SCENES = ['twist', 'gelatin_and_silicone', 'ice_cream'];
const FRAMES = 30;
const ROUNDS = 2;
const threads = Number(process.argv[2] ?? 2);

// Other work on the machine makes some frames slow: the one in the middle says more than the mean.
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/** Seconds per step, from the log of a run. */
function native(scene) {
  const folder = mkdtempSync(join(tmpdir(), 'yawara-'));
  execFileSync('build/yawara', ['run', `scenes/gallery/${scene}.json`, '-n', String(FRAMES), '-t', String(threads), '-o', folder, '-q'], { stdio: 'ignore' });
  const rows = readFileSync(join(folder, 'log.csv'), 'utf8').trim().split('\n').slice(2);
  rmSync(folder, { recursive: true });
  return median(rows.map((row) => Number(row.split(',')[2])));
}

/** The same in the page, and how often it draws while the scene plays. */
async function inBrowser(page, scene) {
  await page.goto(`${site.address}?scene=${scene}&at=0&threads=${threads}`, { waitUntil: 'commit' });
  await hashAt(page, 0);
  const { steps, drawn } = await page.evaluate(async (frames) => {
    const { session } = window.yawara;
    const steps = [];
    for (let i = 0; i < frames; ++i) {
      steps.push(await new Promise((done) => {
        let heard = false;
        session.on('report', ({ report }) => {
          if (!heard && report.frame === i + 1) done(report.seconds);
          heard ||= report.frame === i + 1;
        });
        session.send({ do: 'step' });
      }));
    }
    let drawn = 0;
    session.on('frame', () => ++drawn);
    session.send({ do: 'play', on: true });
    await new Promise((done) => setTimeout(done, 3000));
    return { steps, drawn: drawn / 3 };
  }, FRAMES);
  return { seconds: median(steps), drawn };
}

const site = await serve('out/web', true);
const browser = await launch();
const page = await openPage(browser, site.address);
console.log(`| scene | program, frames/s | browser, frames/s | ratio | drawn, frames/s |\n|---|---|---|---|---|`);
for (const scene of SCENES) {
  let here = Infinity;
  let there = Infinity;
  let drawn = 0;
  // In turn, and the best of each: other work on the machine slows both.
  for (let round = 0; round < ROUNDS; ++round) {
    here = Math.min(here, native(scene));
    const result = await inBrowser(page, scene);
    there = Math.min(there, result.seconds);
    drawn = Math.max(drawn, result.drawn);
  }
  console.log(`| ${scene} | ${(1 / here).toFixed(0)} | ${(1 / there).toFixed(0)} | ${(there / here).toFixed(2)} | ${drawn.toFixed(0)} |`);
}
// 48^3 masters.
const HEAVY = `{ "floor": {}, "bodies": [{ "shape": { "box": { "size": 0.48 } }, "position": [0, 0.3, 0], "density": 1000,
  "plastic": { "youngs_modulus": 1e5, "poissons_ratio": 0.35, "yield_stress": 2000, "spacing": 0.01 } }] }`;
const SHOWN = 20;

/** With --live: frames simulated and shown, and the bytes of each. */
async function live() {
  await withFolder(async (folder) => {
    writeFileSync(join(folder, 'heavy.json'), HEAVY);
    const server = await view('--live', join(folder, 'heavy.json'), '-t', String(threads));
    const watcher = await openPage(browser, 'about:blank');
    const sizes = [];
    watcher.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => typeof payload !== 'string' && sizes.push(payload.length)));
    await watcher.goto(server.address, { waitUntil: 'commit' });
    await firstPicture(watcher);
    const number = () => watcher.evaluate(() => window.yawara.stage.frame.number);
    const [first, began, used] = [await number(), performance.now(), processorTime(server.pid)];
    sizes.length = 0;
    await watcher.waitForFunction((n) => window.yawara.stage.frame.number >= n, first + SHOWN, { timeout: 600_000 });
    const frames = (await number()) - first;
    const seconds = (performance.now() - began) / 1000;
    const bytes = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    const { particles } = await watcher.evaluate(() => window.yawara.report);
    console.log(`\n--live, ${particles} masters: ${frames} frames simulated and ${sizes.length} shown in ${seconds.toFixed(1)} s, ${Math.round(bytes / 1000)} kB each, ` +
      `${((processorTime(server.pid) - used) / frames).toFixed(2)} s of the processors per frame`);
    await server.stop();
  });
}
await live();
await browser.close();
site.stop();
