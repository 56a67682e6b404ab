// SPDX-License-Identifier: MIT
// Frames per second of three scenes in the browser beside the program, in one run and in turn.
// usage: node tests/web/bench.mjs [THREADS]      from the root, after make web; build/yawara must exist
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashAt, launch, openPage } from './browser.mjs';
import { serve } from './server.mjs';

const SCENES = ['twist', 'gelatin_and_silicone', 'ice_cream'];
const FRAMES = 30;
const ROUNDS = 2;
const threads = Number(process.argv[2] ?? 2);

/** Seconds per step, the mean over all frames, from the log of a run. */
function native(scene) {
  const folder = mkdtempSync(join(tmpdir(), 'yawara-'));
  execFileSync('build/yawara', ['run', `scenes/gallery/${scene}.json`, '-n', String(FRAMES), '-t', String(threads), '-o', folder, '-q'], { stdio: 'ignore' });
  const rows = readFileSync(join(folder, 'log.csv'), 'utf8').trim().split('\n').slice(2);
  rmSync(folder, { recursive: true });
  return rows.reduce((sum, row) => sum + Number(row.split(',')[2]), 0) / rows.length;
}

/** The same in the page, and how often it draws while the scene plays. */
async function inBrowser(page, scene) {
  await page.goto(`${site.address}?scene=${scene}&at=0&threads=${threads}`, { waitUntil: 'commit' });
  await hashAt(page, 0);
  return page.evaluate(async (frames) => {
    const { session } = window.yawara;
    let sum = 0;
    for (let i = 0; i < frames; ++i) {
      sum += await new Promise((done) => {
        let heard = false;
        session.on('report', ({ report }) => {
          if (!heard && report.frame === i + 1) done(report.seconds);
          heard ||= report.frame === i + 1;
        });
        session.send({ do: 'step' });
      });
    }
    let drawn = 0;
    session.on('frame', () => ++drawn);
    session.send({ do: 'play', on: true });
    await new Promise((done) => setTimeout(done, 3000));
    return { seconds: sum / frames, drawn: drawn / 3 };
  }, FRAMES);
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
await browser.close();
site.stop();
