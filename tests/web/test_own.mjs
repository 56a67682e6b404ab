// SPDX-License-Identifier: MIT
// What a visitor brings and makes: parameters, files, text, poses.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { close, drop, findBody, hashAt, open, openPage, report } from './browser.mjs';
import { ask, nativeHash, withFolder, yawara } from './program.mjs';

// An octahedron 300 m large, as a file in millimetres might be.
const CORNERS = [[300, 150, 150], [0, 150, 150], [150, 300, 150], [150, 0, 150], [150, 150, 300], [150, 150, 0]];
const FACES = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
const OBJ = [...CORNERS.map((p) => `v ${p.join(' ')}`), ...FACES.map((f) => `f ${f.map((v) => v + 1).join(' ')}`)].join('\n');
const PLY = `ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\nelement face 8\nproperty list uchar int vertex_indices\nend_header
${CORNERS.map((p) => p.join(' ')).join('\n')}\n${FACES.map((f) => `3 ${f.join(' ')}`).join('\n')}\n`;
const STL = `solid a\n${FACES.map((f) => `facet normal 0 0 0\nouter loop\n${f.map((v) => `vertex ${CORNERS[v].join(' ')}\n`).join('')}endloop\nendfacet\n`).join('')}endsolid a\n`;
// glTF with its numbers in a file beside it.
const BIN = Buffer.concat([Buffer.from(new Float32Array(CORNERS.flat()).buffer), Buffer.from(new Uint16Array(FACES.flat()).buffer)]);
const GLTF = JSON.stringify({
  asset: { version: '2.0' },
  scene: 0,
  scenes: [{ nodes: [0] }],
  nodes: [{ mesh: 0 }],
  meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1 }] }],
  buffers: [{ uri: 'big.bin', byteLength: 120 }],
  bufferViews: [{ buffer: 0, byteLength: 72 }, { buffer: 0, byteOffset: 72, byteLength: 48 }],
  accessors: [
    { bufferView: 0, componentType: 5126, count: 6, type: 'VEC3', min: [0, 0, 0], max: [300, 300, 300] },
    { bufferView: 1, componentType: 5123, count: 24, type: 'SCALAR' },
  ],
});
const BROKEN = '{\n  "bodies": [\n    { "mesh": { "lattice": { "size": 1, "cells": 2 } }, "match": { "beta": 1.7 } }\n  ]\n}\n';

/** Presses a button that downloads; returns the file. */
async function save(page, button, folder, name) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
  await download.saveAs(join(folder, name));
  return join(folder, name);
}

async function parameterActsAndIsInTheLink(on) {
  const page = await open(on, '?scene=twist&at=10');
  await hashAt(page, 10);
  await page.fill('#set-beta', '0.5');
  await page.press('#set-beta', 'Enter');
  await page.waitForFunction(() => location.search.includes('beta%3D0.5'));
  const address = page.url();
  await page.goto(`${address}&at=60`, { waitUntil: 'commit' });
  assert.equal(await hashAt(page, 60), await nativeHash('scenes/gallery/twist.json', 60, '--set', 'bodies[1].match.beta=0.5'));
  await close(page);
}

async function meshBecomesABody(on) {
  const page = await open(on, '?scene=first&at=1');
  for (const files of [[['stl.stl', STL]], [['ply.ply', PLY]], [['big.bin', BIN], ['gltf.gltf', GLTF]], [['big.obj', OBJ]]]) {
    await drop(page, ...files);
    const [name] = files.at(-1)[0].split('.');
    await page.waitForFunction((title) => document.querySelector('#title').textContent.startsWith(title), name);
    await page.waitForFunction(() => /300 m in the file, and 1 m here.*not in metres/.test(document.querySelector('#model-note').textContent));
  }
  // It falls until its lowest point is on the floor.
  await page.waitForFunction(() => window.yawara.report.contacts > 0);
  const [, height] = (await report(page)).bodies[0].center;
  assert.ok(height > 0.2 && height < 0.6, `its centre is ${height} m high`);
  assert.equal(await page.evaluate(() => window.yawara.scene.models[0].method), await page.inputValue('#method'));
  await page.selectOption('#method', 'frames');
  await page.waitForFunction(() => window.yawara.scene.models[0].method === 'frames');
  await page.selectOption('#preset', 'clay');
  await page.waitForFunction(() => window.yawara.scene.models[0].method === 'plastic');
  // No link can bring a file of this device: the address does not pretend to.
  await page.waitForFunction(() => location.search === '' && location.hash === '');
  await close(page);
}

/** A scene and what it reads, dropped together; files that are neither; and a scene with a mistake. */
async function sceneBringsItsFiles(on) {
  const page = await open(on, '?scene=first&at=1');
  const scene = '{ "name": "two files", "floor": true, "bodies": [{ "mesh": { "file": "meshes/tet.node" }, "position": [0, 2, 0] }] }';
  await drop(page, ['tet.ele', '1 4 0\n0 0 1 2 3\n'], ['own.json', scene], ['tet.node', '4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n']);
  await page.waitForFunction(() => window.yawara.scene.name === 'two files');
  await drop(page, ['letter.txt', 'Dear reader']);
  await page.waitForSelector('#problem:not([hidden])');
  assert.match(await page.textContent('#problem'), /letter\.txt: neither a mesh .* nor a scene/);
  await page.setInputFiles('#file', { name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from(BROKEN) });
  await page.waitForFunction(() => /broken\.json:3:\d+: bodies\[0\]\.match\.beta is 1\.7, but must be between 0 and 1/.test(document.querySelector('#problem').textContent));
  await close(page);
}

async function textRunsOnChange(on) {
  const page = await open(on, '?scene=first&at=1');
  await page.click('#open-editor');
  await page.click('.cm-content');
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowRight');
  // Keys of the schema are offered where they belong, and Enter takes one.
  await page.keyboard.type('"grav');
  await page.waitForSelector('.cm-tooltip-autocomplete [aria-selected="true"]:has-text("gravity")');
  assert.match(await page.textContent('.cm-completionInfo'), /m\/s\^2/);
  // The editor does not take keys that came before the list could be read.
  await page.waitForTimeout(200);
  await page.keyboard.press('Enter');
  await page.keyboard.insertText('[0, -1, 0], "name": "typed", ');
  await page.waitForFunction(() => document.querySelector('#title').textContent === 'typed');
  assert.match(await page.evaluate(() => window.yawara.session.text), /"gravity": \[0, -1, 0\], "name": "typed"/);
  assert.ok(!(await page.isVisible('#problem')));
  await typedTextIsUndone(page);
  await close(page);
}

/** Undone and redone from the view; what the text says takes the place of what the panel said before. */
async function typedTextIsUndone(page) {
  await page.focus('#canvas');
  await page.keyboard.press('Control+z');
  await page.waitForFunction(() => document.querySelector('#title').textContent === 'first');
  assert.ok(!(await page.textContent('.cm-content')).includes('typed'));
  await page.keyboard.press('Control+Shift+z');
  await page.waitForFunction(() => document.querySelector('#title').textContent === 'typed');
  await page.fill('#set-damping', '3');
  await page.press('#set-damping', 'Enter');
  await page.waitForFunction(() => location.search.includes('damping%3D3'));
  await page.click('.cm-content');
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('{ "name": "other", "bodies": [{ "shape": { "box": { "size": 1 } }, "match": { "damping": 5 } }] }');
  await page.waitForFunction(() => document.querySelector('#title').textContent === 'other');
  await page.waitForFunction(() => document.querySelector('#set-damping').value === '5');
}

// Starts in the second of its three examples, without anything that would change it.
const THREE = `{ "name": "three", "gravity": [0, 0, 0], "bodies": [{ "mesh": { "lattice": { "size": 1, "cells": 2 } }, "match": { "beta": 1 }, "start_pose": "wide",
  "examples": [{ "name": "long", "deform": { "stretch": { "axis": "y", "amount": 0.5 } } }, { "name": "wide", "deform": { "stretch": { "axis": "x", "amount": 0.5 } } },
    { "name": "deep", "deform": { "stretch": { "axis": "z", "amount": 0.5 } } }] }] }`;

/** Weights of three examples are bars and a point in a triangle: at the corner of the one that the body is in. */
async function weightsAreAPoint(page) {
  await drop(page, ['three.json', THREE]);
  await page.waitForFunction(() => window.yawara.scene.name === 'three' && window.yawara.report.frame > 2);
  const { spot, corner, bars } = await page.evaluate(() => {
    const svg = document.querySelector('svg.triangle');
    const corners = svg.querySelector('polygon').getAttribute('points').split(' ').map((point) => point.split(',').map(Number));
    const label = [...svg.querySelectorAll('text')].find((text) => text.textContent === 'wide');
    const dot = svg.querySelector('circle');
    const near = corners.find(([x]) => x === Number(label.getAttribute('x')));
    return { spot: [Number(dot.getAttribute('cx')), Number(dot.getAttribute('cy'))], corner: near, bars: [...document.querySelectorAll('.weight meter')].map((one) => one.value) };
  });
  assert.ok(Math.hypot(spot[0] - corner[0], spot[1] - corner[1]) < 5, `the point is at ${spot}, the corner at ${corner}`);
  assert.ok(bars.length === 4 && bars[2] > 0.95 && bars[0] < 0.05, `the bars are ${bars}`);
}

async function fieldHasALegend(on) {
  const page = await open(on, '?scene=first&at=20');
  await hashAt(page, 20);
  await page.selectOption('#color-by', 'speed');
  await page.waitForSelector('#legend:not([hidden])');
  assert.match(await page.textContent('#legend'), /m\/s/);
  await page.check('#edges');
  await page.selectOption('#cut', 'x');
  await weightsAreAPoint(page);
  await close(page);
}

/** Pulls the body at two places, which stay held, and keeps the pose. */
async function makePose(page) {
  await page.click('text=New pose');
  await page.waitForFunction(() => window.yawara.posing.now && window.yawara.report.frame > 0);
  const [x, y] = await findBody(page);
  for (const [dx, dy, until] of [[-60, 60, 20], [60, -120, 50]]) {
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + dx, y + dy, { steps: 5 });
    await page.waitForFunction((n) => window.yawara.report.frame > n, until);
    await page.mouse.up();
  }
  await page.click('button:text-is("Keep")');
}

async function poseIsMadeSavedAndRunsNatively(on) {
  const page = await open(on, '?scene=first&at=0');
  await hashAt(page, 0);
  await makePose(page);
  await page.waitForFunction(() => document.querySelectorAll('.strip li').length === 1 && !window.yawara.posing.isOn);
  const text = await page.evaluate(() => window.yawara.session.text);
  assert.match(text, /"positions": "/);
  // The file that is saved, run by the program, and the page: the same state.
  const native = await withFolder(async (folder) => {
    const file = await save(page, '#save-scene', folder, 'posed.json');
    assert.equal(readFileSync(file, 'utf8'), text);
    return nativeHash(file, 30);
  });
  // The address has the pose in it: whoever opens it sees the same.
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.click('#copy-link');
  await page.waitForFunction(() => document.querySelector('#copy-link').textContent === 'Copied');
  const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  assert.match(link.hash, /^#text=./);
  link.searchParams.set('at', '30');
  const other = await openPage(on.browser, link.href);
  assert.equal(await hashAt(other, 30), native);
  await close(other);
  await page.click('text=Undo');
  await page.waitForFunction(() => document.querySelectorAll('.strip li').length === 0);
  await page.click('text=Redo');
  await page.waitForFunction(() => document.querySelectorAll('.strip li').length === 1);
  await close(page);
}

async function recordingOpens(on) {
  const page = await open(on, '?scene=first');
  await page.click('#record');
  const start = (await report(page)).frame;
  await page.waitForFunction((frame) => window.yawara.report.frame > frame + 60, start);
  const words = ['-v', 'error', '-count_frames', '-select_streams', 'v', '-show_entries', 'stream=codec_name,width,height,nb_read_frames', '-of', 'json'];
  const [film] = await withFolder(async (folder) => JSON.parse(await ask('ffprobe', ...words, await save(page, '#record', folder, 'film.webm'))).streams);
  assert.match(film.codec_name, /^vp[89]$/);
  const size = await page.evaluate(() => [document.querySelector('#canvas').width, document.querySelector('#canvas').height]);
  assert.deepEqual([film.width, film.height], size);
  assert.ok(Number(film.nb_read_frames) >= 2, `the film has ${film.nb_read_frames} frames`);
  await close(page);
}

/** The zip has the files that the program writes, and the program draws and resumes it. */
async function runIsThatOfTheProgram(on) {
  const page = await open(on, '?scene=twist&at=3&set=duration=0.25&set=bodies[1].match.beta=0.5');
  const set = ['--set', 'bodies[1].match.beta=0.5'];
  await withFolder(async (folder) => {
    await ask('python3', '-m', 'zipfile', '-e', await save(page, '#save-run', folder, 'run.zip'), folder);
    const [kept, native] = [join(folder, 'twist'), join(folder, 'native')];
    await yawara('run', 'scenes/gallery/twist.json', '-n', '15', '-o', native, '--set', 'duration=0.25', ...set);
    const same = (name) => readFileSync(join(kept, name)).equals(readFileSync(join(native, name)));
    assert.deepEqual(readdirSync(join(kept, 'frames')), readdirSync(join(native, 'frames')));
    for (const name of readdirSync(join(kept, 'frames'))) assert.ok(same(`frames/${name}`), `${name} differs`);
    for (const name of ['shown.ywr', 'snapshot.yws', 'scene.json']) assert.ok(same(name), `${name} differs`);
    await yawara('render', kept, '-o', join(folder, 'last.png'), '--from', '15', '--size', '64x36');
    // It can be gone on with.
    const more = await yawara('run', join(kept, 'scene.json'), '-o', kept, '--resume', '-n', '20', '--set', 'duration=0.25', ...set);
    assert.equal(/state ([0-9a-f]{16})/.exec(more)[1], await nativeHash('scenes/gallery/twist.json', 20, ...set));
  });
  await close(page);
}

/** The moment as OBJ; the motion as the program's own point cache. */
async function savesMeshAndMotion(on) {
  const page = await open(on, '?scene=first&at=5&set=duration=0.25');
  await hashAt(page, 5);
  await withFolder(async (folder) => {
    const text = readFileSync(await save(page, '#save-obj', folder, 'a.obj'), 'utf8');
    // A cube of 5 cells: 6 * 5^2 + 2 vertices on its surface, and two triangles per square.
    assert.equal(text.match(/^v /gm).length, 152);
    assert.equal(text.match(/^f /gm).length, 300);
    const made = await save(page, '#save-pc2', folder, 'page.pc2');
    await yawara('run', 'scenes/gallery/first.json', '-n', '15', '--format', 'pc2', '-o', join(folder, 'run'));
    const [name] = readdirSync(join(folder, 'run/pc2')).filter((file) => file.endsWith('.pc2'));
    assert.ok(readFileSync(join(folder, 'run/pc2', name)).equals(readFileSync(made)), 'the files differ');
  });
  await close(page);
}

export const tests = [
  ['a parameter acts and is in the link', parameterActsAndIsInTheLink],
  ['a dropped mesh becomes a body', meshBecomesABody],
  ['a dropped scene brings its files, a broken one shows its error', sceneBringsItsFiles],
  ['the text runs on change and is completed', textRunsOnChange],
  ['a field has a legend; weights are a point in a triangle', fieldHasALegend],
  ['a pose is made, saved, undone and redone, and runs natively', poseIsMadeSavedAndRunsNatively],
  ['a recording opens with ffprobe', recordingOpens],
  ['a run is that of the program', runIsThatOfTheProgram],
  ['the moment as OBJ, and a point cache that is that of the program', savesMeshAndMotion],
];
