// SPDX-License-Identifier: MIT
// Tests of the page in headless Chromium, two at a time. Prints "ok NAME" or "not ok NAME" for each, with its seconds.
// usage: node tests/web/run.mjs [PART OF A NAME ...]      from the root, after make web; build/yawara must exist
import { processorTime } from './program.mjs';
import { serve } from './server.mjs';
import { launch } from './browser.mjs';
import * as core from './test_core.mjs';
import * as monkey from './test_monkey.mjs';
import * as own from './test_own.mjs';
import * as page from './test_page.mjs';
import * as pose from './test_pose.mjs';
import * as view from './test_view.mjs';

const only = process.argv.slice(2);
const site = await serve('out/web', true);
const plainSite = await serve('out/web', false);
const browser = await launch();
const began = Date.now();
let failed = 0;

async function run([name, test]) {
  const contexts = [];
  const newContext = async (options) => {
    const context = await browser.newContext(options);
    contexts.push(context);
    return context;
  };
  const start = Date.now();
  try {
    await test({ browser: { newContext }, site, plainSite });
    console.log(`ok ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    console.log(`not ok ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)\n  ${error.stack}`);
    ++failed;
  }
  // A test that failed leaves its pages open.
  await Promise.allSettled(contexts.map((context) => context.close()));
}

const tests = [page, core, own, pose, view, monkey].flatMap((part) => part.tests).filter(([name]) => only.length === 0 || only.some((part) => name.includes(part)));
// Those that measure time have the machine to themselves.
for (const test of tests.filter(([, , how]) => how?.alone)) await run(test);
// Pages wait much: for timers, for the graphics, for the program. Two at a time keep two cores busy.
const rest = tests.filter(([, , how]) => !how?.alone).values();
const work = async () => {
  for (const test of rest) await run(test);
};
await Promise.all([work(), work()]);
console.log(`# ${tests.length} tests in ${((Date.now() - began) / 1000).toFixed(0)} s; processors ${processorTime(process.pid).toFixed(0)} s`);
await browser.close();
site.stop();
plainSite.stop();
process.exitCode = failed > 0 ? 1 : 0;
