// SPDX-License-Identifier: MIT
// `yawara view`: runs from disk, scenes that the program simulates, scenes for the page, and who is refused.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { close, findBody, firstPicture, hashAt, openPage, report } from './browser.mjs';
import { nativeHash, withFolder, yawara } from './program.mjs';
import { BAR, apart, beginPose, pose, pull, sameHash, setSlider, stripLength } from './test_pose.mjs';

const SCENE = 'scenes/gallery/first.json';
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

/** Starts the program; address: what it prints. */
export async function view(...options) {
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
  return { address, pid: child.pid, stop };
}

/** Runs a test with the program, which must end cleanly. */
async function withView(options, test) {
  const server = await view(...options);
  try {
    await test(server.address, server.pid);
  } finally {
    assert.equal(await server.stop(), 0);
  }
}

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
    await yawara('run', SCENE, '-n', '40', '-o', join(folder, 'run'), '--format', 'obj');
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
    await yawara('run', SCENE, '-n', '10', '-o', dir);
    await withView([dir], async (address) => {
      const page = await openPage(browser, address);
      await page.waitForFunction(() => document.querySelector('#timeline').max === '10');
      await yawara('run', SCENE, '-n', '25', '-o', dir, '--resume');
      await page.waitForFunction(() => document.querySelector('#timeline').max === '25');
      await page.evaluate(() => window.yawara.session.send({ do: 'seek', frame: 25 }));
      await settled(page, 25);
      // Another scene in the same folder takes its place.
      rmSync(dir, { recursive: true });
      await yawara('run', 'scenes/gallery/twist.json', '-n', '5', '-o', dir);
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
    assert.equal(await hashAt(page, 30), await nativeHash('scenes/gallery/twist.json', 30));
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
    assert.equal(await page.textContent('#hash'), await nativeHash('scenes/gallery/twist.json', 20, '--set', 'bodies[1].match.beta=0.5'));
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

/** A bar of frames is squashed with a slider and sculpted with a brush; one step is undone and redone. */
async function shapeTheBar(page) {
  const place = await beginPose(page);
  const rest = await pose(page);
  await setSlider(page, '#pose-squash', 0.4);
  const squashed = await pose(page);
  assert.ok(apart(rest.positions, squashed.positions) > 0.05, 'the slider did nothing');
  await page.click('button:text-is("Brush")');
  await pull(page, place, 60, 0);
  await page.waitForFunction(() => window.yawara.posing.history.canUndo && window.yawara.posing.handles.length === 0);
  const sculpted = await pose(page);
  assert.ok(apart(squashed.positions, sculpted.positions) > 0.01, 'the brush did nothing');
  await page.focus('#canvas');
  await page.keyboard.press('Control+z');
  assert.ok(apart((await pose(page)).positions, squashed.positions) < 1e-5, 'the stroke was not undone');
  await page.keyboard.press('Control+Shift+z');
  assert.ok(apart((await pose(page)).positions, sculpted.positions) < 1e-5, 'the stroke was not redone');
}

async function paintTheBar(page) {
  await page.click('button:text-is("Stiffness")');
  const place = await findBody(page);
  await page.mouse.click(...place);
  await page.waitForFunction(() => !document.querySelector('.paint button[title^="Undo"]').disabled);
  await page.click('button:text-is("Done")');
  await page.waitForFunction(() => /"values"/.test(window.yawara.session.text));
  await page.click('button:text-is("Pins")');
  await page.mouse.click(...(await findBody(page)));
  await page.click('button:text-is("Done")');
  await page.waitForFunction(() => /"pins"/.test(window.yawara.session.text));
}

async function liveMakesPosesAndPaint({ browser }) {
  await withFolder(async (folder) => {
    const scene = join(folder, 'bar.json');
    writeFileSync(scene, BAR);
    await withView(['--live', scene], async (address) => {
      const page = await openPage(browser, address);
      await page.waitForFunction(() => window.yawara?.scene && window.yawara.report);
      // A value of the model builds it again.
      const path = await page.evaluate(() => window.yawara.session.pathOf(0, { key: 'youngs_modulus', model: true }));
      await page.evaluate((changed) => window.yawara.session.send({ do: 'open', path: '', text: '', changes: [{ path: changed, value: '40000' }], until: 2 }), path);
      assert.equal(await hashAt(page, 2), await nativeHash(scene, 2, '--set', `${path}=40000`));
      await page.evaluate(() => window.yawara.session.send({ do: 'open', path: '', text: '', changes: [], until: 0 }));
      await hashAt(page, 0);
      await shapeTheBar(page);
      // Meanwhile others only look on, and the pose goes on.
      const other = await openPage(browser, address);
      await other.waitForFunction(() => window.yawara?.scene && window.yawara.report);
      await other.keyboard.press('r');
      await other.waitForFunction(() => /somebody else/.test(document.querySelector('#problem').textContent));
      assert.ok(await page.evaluate(() => window.yawara.posing.isOn));
      await page.click('button:text-is("Keep")');
      await stripLength(other, 1);
      await close(other);
      await stripLength(page, 1);
      await paintTheBar(page);
      const text = await sameHash(page, 10);
      assert.match(text, /"positions": "/);
      await page.focus('#canvas');
      for (let i = 0; i < 3; ++i) await page.keyboard.press('Control+z');
      await stripLength(page, 0);
      // A scene that reads another file is the business of whoever started the program.
      await page.evaluate(() => {
        const { session } = window.yawara;
        session.open({ name: 'x', text: session.text.replace(/"lattice"/, '"file": "/etc/passwd", "lattice"'), changes: [], until: -1, keepView: true });
      });
      await page.waitForFunction(() => /was started with/.test(document.querySelector('#problem').textContent));
      await close(page);
    });
  });
}

// A body of tets with a pose, one of loose particles, and an obstacle that deforms.
const MIXED = `{ "floor": {}, "obstacles": [{ "animation": { "file": "wave.pc2", "mesh": "wave.obj", "fps": 12, "loop": true }, "position": [0, -2, 0] }],
  "bodies": [{ "mesh": { "lattice": { "size": 0.4, "cells": 3 } }, "position": [0, 0.19, 0], "match": {},
    "examples": [{ "name": "long", "deform": [{ "stretch": { "axis": "y", "amount": 0.5 } }] }] },
    { "shape": { "box": { "size": 0.2 } }, "position": [0.6, 0.12, 0], "plastic": { "spacing": 0.02 } }] }`;

/** Everything that can be seen inside, when a page has reached a frame. */
async function insideAt(page, frame) {
  await page.waitForFunction(() => window.yawara?.scene && window.yawara.report);
  const runTo = (last) =>
    page.evaluate((until) => {
      const { session } = window.yawara;
      session.open({ name: session.name, text: session.text, changes: [], until, keepView: true });
    }, last);
  await runTo(0);
  for (const id of ['#contacts', '#axes', '#slaves']) await page.check(id);
  await page.selectOption('#cut', 'y');
  await runTo(frame);
  await settled(page, frame);
  await page.waitForFunction(() => window.yawara.stage.frame.axes.length > 0);
  return page.evaluate(() => {
    const { bodies, obstacles, contacts, axes, slaves } = window.yawara.stage.frame;
    const lists = { contacts, axes, slaves, cut: bodies[0].cut, skin: bodies[1].positions, triangles: bodies[1].triangles, owners: bodies[1].owners, obstacle: obstacles[1].positions };
    return Object.fromEntries(Object.entries(lists).map(([key, list]) => [key, [...list]]));
  });
}

async function liveShowsTheSameInside({ browser }) {
  await withFolder(async (folder) => {
    const scene = join(folder, 'mixed.json');
    for (const name of ['wave.pc2', 'wave.obj']) copyFileSync(`scenes/gallery/${name}`, join(folder, name));
    writeFileSync(scene, MIXED);
    const seen = [];
    for (const options of [[], ['--live']]) {
      await withView([...options, scene], async (address) => {
        const page = await openPage(browser, address);
        seen.push(await insideAt(page, 20));
        // The strip of poses, with a picture.
        await page.waitForFunction(() => document.querySelector('.strip img')?.src.startsWith('data:image'));
        await close(page);
      });
    }
    const [own, live] = seen;
    for (const [key, list] of Object.entries(own)) {
      assert.ok(list.length > 0, `there are no ${key}`);
      assert.equal(live[key].length, list.length, key);
      const isCoarse = ['cut', 'skin', 'obstacle', 'slaves'].includes(key);
      const most = Math.max(...list.map((value, i) => (Number.isNaN(value) ? 0 : Math.abs(value - live[key][i]))));
      // Positions have 65534 steps across boxes of at most 4 m; the rest is sent as it is.
      assert.ok(isCoarse ? most < 4 / 65534 : most === 0, `${key} differ by ${most}`);
    }
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
      assert.equal(await hashAt(page, 5), await nativeHash(scene, 5, '--set', 'bodies[0].position[1]=2'));
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
    socket.on('data', (piece) => {
      text += piece;
      if (text.includes('\r\n')) socket.destroy();
    });
    socket.on('close', () => done(text.split('\r\n')[0]));
    socket.on('error', fail);
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

// Slow readers ------------------------------------------------------------------------------------

/** A text as a client sends it: masked, with a mask of zeros. */
const clientText = (text) => Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

/** Frame numbers of the binary messages in what the program sent, and the bytes of the largest. */
function readMessages(bytes) {
  const numbers = [];
  let largest = 0;
  for (let at = bytes.indexOf('\r\n\r\n') + 4; at + 10 < bytes.length; ) {
    const short = bytes[at + 1];
    const [size, head] = short < 126 ? [short, 2] : short === 126 ? [bytes.readUInt16BE(at + 2), 4] : [Number(bytes.readBigUInt64BE(at + 2)), 10];
    const data = at + head;
    if ((bytes[at] & 15) === 2 && data + 24 <= bytes.length && bytes.readUInt32LE(data) === 2) numbers.push(bytes.readInt32LE(data + 20));
    largest = Math.max(largest, size);
    at = data + size;
  }
  return { numbers, largest };
}

const memoryOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

// Frames of 240 kB that cost nothing to simulate.
const PLATE = '{ "floor": {}, "bodies": [{ "mesh": { "lattice": { "size": [2, 0.02, 2], "cells": [120, 1, 120] } }, "rigid": {}, "position": [0, 1, 0] }] }';

/** Asks for frames without reading any, then reads: a few old ones were on their way, and then comes the newest. */
const slowReadersGetTheNewestFrame = () =>
  withFolder((folder) => {
    writeFileSync(join(folder, 'plate.json'), PLATE);
    return withView(['--live', join(folder, 'plate.json')], skipsWhatIsNotRead);
  });

/** A viewer without a page; `bytes` is what it has read. */
function joinBare(address) {
  const { host, hostname, port, pathname } = new URL(address);
  const viewer = { socket: connect(Number(port), hostname), bytes: Buffer.alloc(0) };
  viewer.socket.on('data', (piece) => (viewer.bytes = Buffer.concat([viewer.bytes, piece])));
  viewer.socket.write(`${upgrade(`${pathname}socket`, host, `http://${host}`).join('\r\n')}\r\n\r\n`);
  return viewer;
}

async function skipsWhatIsNotRead(address, pid) {
  const [slow, quick] = [joinBare(address), joinBare(address)];
  const hasFrame = async (viewer, number) => {
    for (const end = Date.now() + 60_000; !((readMessages(viewer.bytes).numbers.at(-1) ?? -1) >= number); await wait(30)) assert.ok(Date.now() < end, `frame ${number} did not come`);
  };
  await hasFrame(slow, 0);
  slow.socket.pause();
  const before = memoryOf(pid);
  const asking = setInterval(() => [slow, quick].forEach(({ socket }) => socket.write(clientText('{"do":"drawn"}'))), 8);
  await hasFrame(quick, 60);
  const grown = memoryOf(pid) - before;
  slow.socket.resume();
  await hasFrame(slow, 60);
  clearInterval(asking);
  const { numbers, largest } = readMessages(slow.bytes);
  for (const { socket } of [slow, quick]) socket.destroy();
  const gap = Math.max(...numbers.slice(1).map((number, i) => number - numbers[i]));
  console.log(`# slow reader: ${gap} frames left out at once, messages of ${largest} bytes at most; the program took ${grown} bytes more`);
  assert.ok(grown < 4 * largest + 2e6, `the program took ${grown} bytes more, with messages of ${largest} bytes`);
  assert.ok(gap > 10, `no frames were left out: ${numbers}`);
}

export const tests = [
  ['a run scrubs to the frame asked for', runScrubsToTheFrame],
  ['a growing run grows, and another takes its place', growingRunGrows],
  ['live: the same controls, the same hash', liveHasTheSameControls],
  ['live: several viewers', severalViewers],
  ['live: contacts, turns, cuts, skins, poses and deforming obstacles as in the page', liveShowsTheSameInside],
  ['live: poses, sculpting, paint and values of the model', liveMakesPosesAndPaint],
  ['view of a scene runs in the page, with its files', pageRunsASceneWithItsFiles],
  ['view refuses strangers', strangersAreRefused],
  ['view ends connections with bad messages', badMessagesEndTheConnection],
  ['live: frames do not queue up for a slow reader', slowReadersGetTheNewestFrame],
];
