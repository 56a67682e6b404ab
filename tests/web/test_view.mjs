// SPDX-License-Identifier: MIT
// `yawara view`: runs from disk, scenes that the program simulates, scenes for the page, and who is refused.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { close, findBody, firstPicture, hashAt, openPage, report } from './browser.mjs';
import { nativeHash } from './test_core.mjs';

const SCENE = 'scenes/gallery/first.json';

/** Starts the program; address: what it prints. */
async function view(...options) {
  const child = spawn('build/yawara', ['view', '--no-open', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.on('exit', (code, signal) => done(signal ?? code)));
  const address = await new Promise((done, fail) => {
    let text = '';
    child.stdout.on('data', (piece) => {
      text += piece;
      const found = /http:\S+/.exec(text);
      if (found) done(found[0]);
    });
    ended.then((code) => fail(new Error(`yawara view ended with ${code}`)));
  });
  const stop = () => {
    child.kill('SIGINT');
    return ended;
  };
  return { address, stop };
}

/** Runs a test with the program, which must end cleanly. */
async function withView(options, test) {
  const server = await view(...options);
  try {
    await test(server.address);
  } finally {
    assert.equal(await server.stop(), 0);
  }
}

async function withFolder(test) {
  const folder = mkdtempSync(join(tmpdir(), 'yawara-'));
  try {
    await test(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const run = (...words) => execFileSync('build/yawara', words, { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' });
const settled = (page, frame) => page.waitForFunction((n) => window.yawara.stage?.frame?.number === n && window.yawara.report?.frame === n, frame);

/** Largest distance between what the page shows of a body and an OBJ file of the program, m. */
async function distanceTo(page, file) {
  const exact = [...readFileSync(file, 'utf8').matchAll(/^v (\S+) (\S+) (\S+)/gm)].map((match) => match.slice(1, 4).map(Number));
  return page.evaluate((points) => {
    const { scene, stage } = window.yawara;
    const { positions } = stage.frame.bodies[0];
    const { source } = scene.models[0];
    let most = 0;
    source.forEach((vertex, i) => points[vertex].forEach((x, k) => (most = Math.max(most, Math.abs(x - positions[3 * i + k])))));
    return most;
  }, exact);
}

// Runs --------------------------------------------------------------------------------------------

async function runScrubsToTheFrame({ browser }) {
  await withFolder(async (folder) => {
    run('run', SCENE, '-n', '40', '-o', join(folder, 'run'), '--format', 'obj');
    await withView([join(folder, 'run')], async (address) => {
      const page = await openPage(browser, address);
      await firstPicture(page);
      await page.waitForFunction(() => document.querySelector('#timeline').max === '40');
      // It plays to its end and waits there.
      await page.waitForFunction(() => document.querySelector('#play').getAttribute('aria-label') === 'Play');
      await settled(page, 40);
      for (const frame of [37, 3, 21, 0]) {
        await page.evaluate((n) => {
          const timeline = document.querySelector('#timeline');
          // As a hand that moves quickly: only the last place counts.
          for (const value of [40 - n, 12, n]) {
            timeline.value = String(value);
            timeline.dispatchEvent(new Event('input', { bubbles: true }));
          }
        }, frame);
        await settled(page, frame);
        const file = join(folder, `run/obj/bodies_0__${String(frame).padStart(6, '0')}.obj`);
        const most = await distanceTo(page, file);
        // A cube of 1 m, which bends: its box is below 2 m, cut into 65534 steps.
        assert.ok(most < 2 / 65534, `frame ${frame} is ${most} m away from that of the program`);
      }
      await close(page);
    });
  });
}

async function growingRunGrows({ browser }) {
  await withFolder(async (folder) => {
    const dir = join(folder, 'run');
    run('run', SCENE, '-n', '10', '-o', dir);
    await withView([dir], async (address) => {
      const page = await openPage(browser, address);
      await page.waitForFunction(() => document.querySelector('#timeline').max === '10');
      run('run', SCENE, '-n', '25', '-o', dir, '--resume');
      await page.waitForFunction(() => document.querySelector('#timeline').max === '25');
      await page.evaluate(() => window.yawara.session.send({ do: 'seek', frame: 25 }));
      await settled(page, 25);
      // Another scene in the same folder takes its place.
      rmSync(dir, { recursive: true });
      run('run', 'scenes/gallery/twist.json', '-n', '5', '-o', dir);
      await page.waitForFunction(() => window.yawara.scene.bodies.length === 2 && document.querySelector('#timeline').max === '5');
      await close(page);
    });
  });
}

// Live --------------------------------------------------------------------------------------------

const step = async (page, count) => {
  const { frame } = await report(page);
  for (let i = 0; i < count; ++i) await page.keyboard.press('o');
  await hashAt(page, frame + count);
};

async function liveHasTheSameControls({ browser }) {
  await withView(['--live', 'scenes/gallery/twist.json'], async (address) => {
    const page = await openPage(browser, address);
    await firstPicture(page);
    // The program's hash is the program's hash.
    await page.evaluate(() => window.yawara.session.send({ do: 'open', path: '', text: '', changes: [], until: 30 }));
    assert.equal(await hashAt(page, 30), nativeHash('scenes/gallery/twist.json', 30));
    const before = await report(page);
    const [x, y] = await findBody(page);
    await page.mouse.down();
    await page.mouse.move(x, y - 160, { steps: 4 });
    await step(page, 20);
    await page.mouse.up();
    const after = await report(page);
    const lift = after.bodies.map((body, i) => body.center[1] - before.bodies[i].center[1]);
    assert.ok(Math.max(...lift) - Math.min(...lift) > 0.1, `the bodies rose by ${lift} m`);
    // A parameter acts: the same as when the scene says so.
    await page.keyboard.press('r');
    await hashAt(page, 0);
    await page.fill('#set-beta', '0.5');
    await page.press('#set-beta', 'Enter');
    await page.focus('#canvas');
    await step(page, 20);
    assert.equal(await page.textContent('#hash'), nativeHash('scenes/gallery/twist.json', 20, '--set', 'bodies[1].match.beta=0.5'));
    await page.keyboard.press('p');
    await page.waitForFunction(() => window.yawara.report.frame > 30);
    await close(page);
  });
}

async function severalViewers({ browser }) {
  await withView(['--live', SCENE], async (address) => {
    const pages = [await openPage(browser, address), await openPage(browser, address)];
    for (const page of pages) await firstPicture(page);
    const [one, other] = pages;
    await one.keyboard.press('p');
    await other.waitForFunction(() => document.querySelector('#play').getAttribute('aria-label') === 'Play');
    await one.keyboard.press('r');
    for (const page of pages) await settled(page, 0);
    // One colours by speed; the other sees no colours of fields.
    await one.selectOption('#color-by', 'speed');
    await step(one, 3);
    for (const page of pages) await settled(page, 3);
    const hasValues = (page) => page.evaluate(() => window.yawara.stage.frame.bodies[0].values !== undefined);
    assert.deepEqual([await hasValues(one), await hasValues(other)], [true, false]);
    assert.equal(await one.textContent('#hash'), await other.textContent('#hash'));
    await close(other);
    await step(one, 1);
    await close(one);
  });
}

async function changeOfTheModelBuildsAgain({ browser }) {
  await withView(['--live', 'scenes/gallery/gelatin_and_silicone.json'], async (address) => {
    const page = await openPage(browser, address);
    await firstPicture(page);
    const path = await page.evaluate(() => window.yawara.session.pathOf(0, { key: 'youngs_modulus', model: true }));
    await page.evaluate((changed) => window.yawara.session.send({ do: 'open', path: '', text: '', changes: [{ path: changed, value: '20000' }], until: 2 }), path);
    assert.equal(await hashAt(page, 2), nativeHash('scenes/gallery/gelatin_and_silicone.json', 2, '--set', `${path}=20000`));
    await close(page);
  });
}

// Scenes for the page -----------------------------------------------------------------------------

async function pageRunsASceneWithItsFiles({ browser }) {
  await withFolder(async (folder) => {
    const scene = join(folder, 'own.json');
    mkdirSync(join(folder, 'meshes'));
    // The scene names one of two files, beside others that it does not name.
    writeFileSync(join(folder, 'meshes/tet.node'), '4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n');
    writeFileSync(join(folder, 'meshes/tet.ele'), '1 4 0\n0 0 1 2 3\n');
    writeFileSync(scene, '{ "floor": true, "bodies": [ { "mesh": { "file": "meshes/tet.node" }, "position": [0, 1, 0] } ] }\n');
    await withView([scene, '--set', 'bodies[0].position[1]=2'], async (address) => {
      const page = await openPage(browser, `${address}&at=5`);
      assert.equal(await hashAt(page, 5), nativeHash(scene, 5, '--set', 'bodies[0].position[1]=2'));
      assert.ok(await page.evaluate(() => crossOriginIsolated));
      const status = (path) => page.evaluate((part) => fetch(part).then((response) => response.status), path);
      assert.equal(await status('open/1'), 200);
      page.problems = [];
      assert.equal(await status('open/2'), 404);
      await page.context().close();
    });
  });
}

// Who is refused ----------------------------------------------------------------------------------

/** The first line that the program answers to a request. */
function ask(address, lines) {
  const { hostname, port } = new URL(address);
  return new Promise((done, fail) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    let text = '';
    socket.on('data', (piece) => (text += piece));
    socket.on('close', () => done(text.split('\r\n')[0]));
    socket.on('error', fail);
    setTimeout(() => socket.end(), 1000);
  });
}

const upgrade = (path, host, origin) => [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Protocol: yawara', ...(origin ? [`Origin: ${origin}`] : [])];

async function strangersAreRefused() {
  await withView(['--live', SCENE], async (address) => {
    const { host, port, pathname } = new URL(address);
    const socket = `${pathname}socket`;
    const own = `http://${host}`;
    const other = pathname.replace(/[0-9a-f]/g, '0');
    const get = (path, name = host, ...more) => [`GET ${path} HTTP/1.1`, `Host: ${name}`, 'Connection: close', ...more];
    const wanted = [
      ['own socket', upgrade(socket, host, own), /101/],
      ['a foreign origin', upgrade(socket, host, 'http://example.com'), /403|^$/],
      ['no origin', upgrade(socket, host, ''), /403|^$/],
      ['another token', upgrade(`${other}socket`, host, own), /403|^$/],
      ['another host', upgrade(socket, `example.com:${port}`, `http://example.com:${port}`), /403|^$/],
      ['own page', get(pathname), /200/],
      ['page without the token', get('/'), /403/],
      ['page with another token', get(other), /403/],
      ['page by another name', get(pathname, `example.com:${port}`), /403/],
      ['page from a foreign origin', get(pathname, host, 'Origin: http://example.com'), /403/],
      ['path out of the folder', get(`${pathname}../../../../etc/passwd`), /40[034]/],
      ['the same in disguise', get(`${pathname}%2e%2e/%2e%2e/%2e%2e/etc/passwd`), /40[034]/],
      ['a hidden file', get(`${pathname}.git/config`), /403/],
      ['a scene that is not served', get(`${pathname}open/scene.json`), /404/],
      ['writing', [`PUT ${pathname}style.css HTTP/1.1`, `Host: ${host}`, 'Content-Length: 0'], /40[05]|^$/],
    ];
    for (const [what, lines, status] of wanted) assert.match(await ask(address, lines), status, what);
  });
}

async function badMessagesEndTheConnection({ browser }) {
  await withView(['--live', SCENE], async (address) => {
    const page = await openPage(browser, address);
    await firstPicture(page);
    const closesWith = (text) => page.evaluate((message) => new Promise((done) => {
      const socket = new WebSocket(new URL('socket', location.href.replace(/^http/, 'ws')), 'yawara');
      socket.onopen = () => socket.send(message);
      socket.onclose = (event) => done(event.code);
    }), text);
    assert.equal(await closesWith(`{"do":"field","name":"${'x'.repeat(20_000)}"}`), 1009);
    assert.equal(await closesWith('{"do":"explode"}'), 1008);
    assert.equal(await closesWith('not JSON'), 1008);
    assert.equal(await closesWith('{"do":"set","body":0,"key":"beta","value":"\\"/etc/passwd\\""}'), 1008);
    // The others go on.
    await page.keyboard.press('p');
    await page.keyboard.press('r');
    await settled(page, 0);
    await close(page);
  });
}

export const tests = [
  ['a run scrubs to the frame asked for', runScrubsToTheFrame],
  ['a growing run grows, and another takes its place', growingRunGrows],
  ['live: the same controls, the same hash', liveHasTheSameControls],
  ['live: several viewers', severalViewers],
  ['live: a value of the model builds it again', changeOfTheModelBuildsAgain],
  ['view of a scene runs in the page, with its files', pageRunsASceneWithItsFiles],
  ['view refuses strangers', strangersAreRefused],
  ['view ends connections with bad messages', badMessagesEndTheConnection],
];
