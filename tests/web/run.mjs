// SPDX-License-Identifier: MIT
// Tests of the page in headless Chromium. Prints "ok NAME" or "not ok NAME" for each.
// usage: node tests/web/run.mjs [PART OF A NAME]      from the root, after make web; build/yawara must exist
import { serve } from './server.mjs';
import { launch } from './browser.mjs';
import * as core from './test_core.mjs';
import * as monkey from './test_monkey.mjs';
import * as own from './test_own.mjs';
import * as page from './test_page.mjs';
import * as pose from './test_pose.mjs';
import * as view from './test_view.mjs';

const only = process.argv[2] ?? '';
const site = await serve('out/web', true);
const plainSite = await serve('out/web', false);
const browser = await launch();
let failed = 0;
for (const [name, test] of [core, page, own, pose, view, monkey].flatMap((part) => part.tests)) {
  if (!name.includes(only)) continue;
  const start = Date.now();
  try {
    await test({ browser, site, plainSite });
    console.log(`ok ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    console.log(`not ok ${name}\n  ${error.stack}`);
    ++failed;
  }
  // A test that failed leaves its page open.
  await Promise.allSettled(browser.contexts().map((context) => context.close()));
}
await browser.close();
site.stop();
plainSite.stop();
process.exitCode = failed > 0 ? 1 : 0;
