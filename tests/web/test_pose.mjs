// SPDX-License-Identifier: MIT
// Poses and paint made by hand: tools, undo, words, and the same hash in the program.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE, close, drop, findBody, hashAt, open, openPage } from './browser.mjs';
import { nativeHash, withFolder } from './program.mjs';

// A bar of frames, which keeps its stiffness in its scene.
export const BAR = `{ "name": "bar", "gravity": [0, -9.81, 0], "floor": {}, "bodies": [{ "name": "bar", "position": [0, 0.6, 0],
  "mesh": { "lattice": { "size": [0.3, 1, 0.3], "cells": [2, 6, 2] } }, "frames": { "youngs_modulus": 20000 } }] }`;

// A rod and a sheet.
const THIN = `{ "name": "thin", "floor": {}, "bodies": [
  { "name": "rod", "rod": { "line": { "from": [-0.5, 0, 0], "to": [0.5, 0, 0], "count": 21 }, "radius": 0.03 }, "position": [0, 0.5, 0], "slender": { "youngs_modulus": 1e7 } },
  { "name": "sheet", "sheet": { "rectangle": { "width": 0.8, "depth": 0.6, "across": 8, "along": 6 }, "thickness": 0.01 }, "position": [0, 0.2, 0.9], "slender": { "youngs_modulus": 1e7 } }] }`;

/** Positions of the pose that is being made, and what is felt of it. Other answers may still be on their way: the last before "settings" is meant. */
export const pose = (page) =>
  page.evaluate(
    () =>
      new Promise((done) => {
        const { session } = window.yawara;
        let last;
        session.on('pose', ({ positions, checks }) => (last = { positions: [...positions], check: checks.at(-1) }));
        session.on('settings', () => done(last));
        session.send({ do: 'pose', body: 0 });
        session.send({ do: 'settings', body: 0 });
      }),
  );

/** How far vertices are from where they were, at most. */
export const apart = (a, b) => Math.max(...a.map((value, i) => Math.abs(value - b[i])));

export async function beginPose(page) {
  await page.click('button:text-is("New pose")');
  await page.waitForSelector('.posing-tools');
  const [x, y] = await findBody(page);
  await page.waitForFunction(() => window.yawara.posing.now);
  return [x, y];
}

export async function pull(page, [x, y], dx, dy) {
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx, y + dy, { steps: 4 });
  const from = await page.evaluate(() => window.yawara.report.frame);
  await page.waitForFunction((n) => window.yawara.report.frame > n + 15, from);
  await page.mouse.up();
}

/** The scene as it is now gives the same hash in the page and in the program. */
export async function sameHash(page, frames) {
  const text = await page.evaluate(() => window.yawara.session.text);
  const native = await withFolder((folder) => {
    writeFileSync(join(folder, 'made.json'), text);
    return nativeHash(join(folder, 'made.json'), frames);
  });
  await page.evaluate((until) => {
    const { session } = window.yawara;
    session.open({ name: session.name, text: session.text, changes: session.changes, until, keepView: true });
  }, frames);
  assert.equal(await hashAt(page, frames), native);
  return text;
}

/** Waits until something asked of the page is true. */
async function eventually(isTrue, what) {
  for (const end = Date.now() + PATIENCE; !(await isTrue()); ) assert.ok(Date.now() < end, what);
}

export const setSlider = (page, id, value) =>
  page.evaluate(
    ([name, to]) => {
      const slider = document.querySelector(name);
      slider.value = String(to);
      slider.dispatchEvent(new Event('input'));
      slider.dispatchEvent(new Event('change'));
    },
    [id, value],
  );

export const stripLength = (page, count) => page.waitForFunction((n) => document.querySelectorAll('.strip li').length === n && !window.yawara.posing.isOn, count);

async function slidersMakeAPoseThatRunsNatively(on) {
  const page = await open(on, '?scene=first&at=0');
  await beginPose(page);
  const rest = await pose(page);
  await setSlider(page, '#pose-twist', 0.9);
  await setSlider(page, '#pose-squash', 0.3);
  const made = await pose(page);
  assert.ok(apart(rest.positions, made.positions) > 0.1, 'the sliders did nothing');
  assert.ok(made.check.stretch > 0.1 && made.check.flaw === 0, JSON.stringify(made.check));
  // Ctrl-Z takes the squash away, and with Shift brings it back.
  await page.focus('#canvas');
  await page.keyboard.press('Control+z');
  const undone = await pose(page);
  assert.ok(apart(undone.positions, made.positions) > 0.05, 'nothing was undone');
  await page.keyboard.press('Control+Shift+z');
  assert.ok(apart((await pose(page)).positions, made.positions) < 1e-5, 'redo is not what was undone');
  await page.click('button:text-is("Keep")');
  await stripLength(page, 1);
  await page.waitForFunction(() => document.querySelector('.strip img').src.startsWith('data:image'));
  // Its strength is in the scene, and can be undone too.
  await page.evaluate(() => {
    const slider = document.querySelector('.strip input[type=range]');
    slider.value = '0.5';
    slider.dispatchEvent(new Event('change'));
  });
  await page.waitForFunction(() => /"strength": 0.5/.test(window.yawara.session.text));
  const text = await sameHash(page, 20);
  assert.match(text, /"positions": "/);
  await page.focus('#canvas');
  await page.keyboard.press('Control+z');
  await page.waitForFunction(() => !/"strength"/.test(window.yawara.session.text));
  // A copy, and the delete button.
  await page.click('.strip button:text-is("Copy")');
  await stripLength(page, 2);
  assert.match(await page.textContent('#problem'), /same as/);
  await page.click('.strip button:text-is("✕")');
  await stripLength(page, 1);
  await page.fill('.strip input[aria-label="Name of pose 1"]', 'curl');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /"name": "curl"/.test(window.yawara.session.text));
  // What is edited can be kept beside what it was.
  await page.click('.strip button:text-is("Edit")');
  await page.waitForFunction(() => window.yawara.posing.now);
  await setSlider(page, '#pose-bend', 1);
  await page.click('button:text-is("Keep as new")');
  await stripLength(page, 2);
  await close(page);
}

async function gizmoTurnsAPart(on) {
  const page = await open(on, '?scene=first&at=0');
  const [x, y] = await beginPose(page);
  await page.click('button:text-is("Gizmo")');
  await page.click('button:text-is("Turn")');
  await page.mouse.click(x, y);
  await page.waitForFunction(() => window.yawara.posing.handles.length === 2);
  // The far side is held as well. A ring of the gizmo is somewhere around the click.
  let at;
  for (let r = 20; r < 140 && !at; r += 6) {
    for (const [u, v] of [[1, 0], [0, 1], [-1, 0], [0.7, 0.7]]) {
      const place = [x + r * u, y + r * v];
      await page.mouse.move(...place);
      if (await page.evaluate(() => window.yawara.posing.gizmo?.controls.axis)) at ??= place;
    }
  }
  assert.ok(at, 'no part of the gizmo is under the pointer');
  const before = await pose(page);
  await page.mouse.move(...at);
  await page.mouse.down();
  await page.mouse.move(at[0] + 50, at[1] - 60, { steps: 4 });
  const from = await page.evaluate(() => window.yawara.report.frame);
  await page.waitForFunction((n) => window.yawara.report.frame > n + 10, from);
  await page.mouse.up();
  const turn = await page.evaluate(() => window.yawara.posing.handles.find((one) => !one.anchor).motion.turn);
  assert.ok(Math.abs(turn[3]) < 0.999, `it was turned by ${turn}`);
  assert.ok(apart(before.positions, (await pose(page)).positions) > 0.01, 'nothing was deformed');
  await page.click('button:text-is("Spring back")');
  await eventually(async () => apart(before.positions, (await pose(page)).positions) < 0.01, 'it does not spring back');
  await page.click('button:text-is("Pull")');
  await pull(page, [x, y], 30, -60);
  await page.click('button:text-is("Let go")');
  await page.waitForFunction(() => window.yawara.posing.handles.length === 0);
  const kept = await pose(page);
  assert.ok(apart(before.positions, kept.positions) > 0.02, 'it sprang back when it was let go');
  await page.click('button:text-is("Cancel")');
  await page.waitForFunction(() => !window.yawara.posing.isOn);
  await close(page);
}

async function brushIsTheSameOnBothSides(on) {
  const page = await open(on, '?scene=first&at=0');
  const place = await beginPose(page);
  await page.click('button:text-is("Brush")');
  await page.check('#pose-mirror');
  await setSlider(page, '#pose-radius', 0.3);
  const rest = await pose(page);
  await pull(page, [place[0] + 25, place[1]], 40, -50);
  await page.waitForFunction(() => window.yawara.posing.handles.length === 0);
  const { positions } = await pose(page);
  assert.ok(apart(rest.positions, positions) > 0.02, 'the brush did nothing');
  // Every vertex of the lattice has a mirror image; so should what the brush made of it.
  const points = (list) => Array.from({ length: list.length / 3 }, (_, i) => list.slice(3 * i, 3 * i + 3));
  const from = points(rest.positions);
  const to = points(positions);
  let worst = 0;
  from.forEach(([a, b, c], i) => {
    const j = from.findIndex(([u, v, w]) => Math.hypot(u + a, v - b, w - c) < 1e-4);
    worst = Math.max(worst, Math.hypot(to[i][0] + to[j][0], to[i][1] - to[j][1], to[i][2] - to[j][2]));
  });
  assert.ok(worst < 0.25 * apart(rest.positions, positions), `left and right differ by ${worst} m`);
  await close(page);
}

/** A place of the view where one body is. */
const placeOf = (page, body) =>
  page.evaluate((wanted) => {
    const { left, top, width, height } = document.querySelector('#canvas').getBoundingClientRect();
    for (let v = -0.9; v < 0.9; v += 0.02) {
      for (let u = -0.9; u < 0.9; u += 0.02) if (window.yawara.stage.touch(u, v)?.body === wanted) return [left + ((u + 0.03 + 1) / 2) * width, top + ((1 - v - 0.03) / 2) * height];
    }
    return undefined;
  }, body);

/** Rods and sheets: bent with a slider, kept, drawn in the strip; a group is painted; their frames are shown. */
async function thinBodiesHavePoses(page) {
  await drop(page, ['thin.json', THIN]);
  await page.waitForFunction(() => window.yawara.scene.name === 'thin');
  await page.check('#axes');
  await page.waitForFunction(() => window.yawara.stage.frame.axes.length === 7 * (21 + 63));
  await page.uncheck('#axes');
  for (const body of ['0', '1']) {
    await page.selectOption('#body', body);
    await page.click('button:text-is("New pose")');
    await page.waitForFunction(() => window.yawara.posing.now);
    await setSlider(page, '#pose-axis', 'x');
    await setSlider(page, '#pose-bend', 1.5);
    await page.waitForFunction(() => /of its size/.test(document.querySelector('.posing-tools .note').textContent));
    await page.click('button:text-is("Keep")');
    await stripLength(page, 1);
    await page.waitForFunction(() => document.querySelector('.strip img')?.src.startsWith('data:image'));
  }
  await page.click('button:text-is("Groups")');
  await page.waitForFunction(() => window.yawara.stage.frame.bodies[1].values);
  await page.mouse.click(...(await placeOf(page, 1)));
  await page.waitForFunction(() => !document.querySelector('.paint button[title^="Undo"]').disabled);
  await page.click('button:text-is("Done")');
  await page.waitForFunction(() => /"groups"/.test(window.yawara.session.text));
  await sameHash(page, 10);
}

async function disappointingPosesAreExplained(on) {
  const page = await open(on, '?scene=first&at=0');
  await beginPose(page);
  await page.click('button:text-is("Keep")');
  await page.waitForSelector('.warning');
  assert.match(await page.textContent('.warning'), /rest pose.*Deform it/);
  await page.click('button:text-is("Change it")');
  assert.ok(!(await page.isVisible('.warning')));
  await thinBodiesHavePoses(page);
  await close(page);
}

async function paintRunsNatively(on) {
  const page = await open(on, '?scene=twist&at=0');
  await page.click('button:text-is("Groups")');
  const isAll = (value) => page.waitForFunction((wanted) => window.yawara.stage.frame.bodies[1].values?.every((one) => one === wanted), value);
  await page.click('button:text-is("Fill")');
  await isAll(1);
  await page.click('.paint button:text-is("Undo")');
  await isAll(0);
  await page.click('.paint button:text-is("Redo")');
  await isAll(1);
  await page.click('.paint button:text-is("Undo")');
  const [x, y] = await findBody(page);
  await setSlider(page, '#paint-radius', 0.35);
  await page.mouse.click(x, y);
  await page.waitForFunction(() => !document.querySelector('.paint button[title^="Undo"]').disabled);
  await page.click('button:text-is("Done")');
  await page.waitForFunction(() => /"painted"/.test(window.yawara.session.text));
  await sameHash(page, 10);
  await drop(page, ['bar.json', BAR]);
  await page.waitForFunction(() => window.yawara.scene.name === 'bar');
  await page.click('button:text-is("Stiffness")');
  await page.click('button:text-is("Gradient")');
  const place = await findBody(page);
  await setSlider(page, '#paint-value', 0);
  await page.mouse.click(...place);
  await setSlider(page, '#paint-value', 255);
  await page.mouse.click(place[0], place[1] + 60);
  await page.waitForFunction(() => !document.querySelector('.paint button[title^="Undo"]').disabled);
  await page.click('button:text-is("Done")');
  await page.waitForFunction(() => /"values"/.test(window.yawara.session.text));
  await page.click('button:text-is("Pins")');
  await page.mouse.click(...(await findBody(page)));
  await page.click('button:text-is("Done")');
  await page.waitForFunction(() => /"pins"/.test(window.yawara.session.text));
  const text = await sameHash(page, 10);
  assert.match(text, /"youngs_modulus": \[\s*2000,\s*200000\s*\]/);
  await close(page);
}

/** Opens a scene on a phone, in the dark, with the panel. */
async function openOnPhone({ browser, site }, scene) {
  const page = await openPage(browser, `${site.address}?scene=${scene}&at=0`, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, colorScheme: 'dark' });
  await page.waitForFunction(() => window.yawara?.scene && window.yawara.report);
  await page.click('#open-panel');
  return page;
}

async function toolsFitAPhoneAndTheKeyboard(on) {
  const page = await openOnPhone(on, 'first');
  const fits = async (what) => {
    const width = await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.querySelector('#panel').scrollWidth));
    assert.ok(width <= 390, `${what}: ${width} pixels wide`);
  };
  /** Names of what Tab reaches in the panel, by the text or the label. */
  const reach = async (first) => {
    await page.focus(first);
    const found = new Set();
    for (let i = 0; i < 40; ++i) {
      found.add(await page.evaluate(() => document.activeElement.textContent || document.activeElement.id));
      await page.keyboard.press('Tab');
    }
    return found;
  };
  await page.focus('button:text-is("New pose")');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.posing-tools');
  await fits('pose tools');
  await page.evaluate(() => document.querySelector('.posing-tools summary').click());
  const found = await reach('.posing-tools button');
  for (const name of ['Gizmo', 'Brush', 'pose-mirror', 'pose-radius', 'pose-twist', 'pose-scale', 'Let go', 'Spring back', 'Keep', 'Cancel']) assert.ok(found.has(name), `Tab does not reach ${name}`);
  await page.keyboard.press('Escape');
  await page.evaluate(() => [...document.querySelectorAll('.posing-tools button')].find((one) => one.textContent === 'Cancel').click());
  await page.waitForFunction(() => !window.yawara.posing.isOn);
  await page.focus('button:text-is("Groups")');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#paint-radius');
  await fits('paint');
  const painted = await reach('.paint button');
  for (const name of ['1', '6', 'paint-radius', 'Fill', 'Done', 'Cancel']) assert.ok(painted.has(name), `Tab does not reach ${name}`);
  await close(page);
}

async function insideIsShown(on) {
  const page = await open(on, '?scene=twist&at=60');
  await hashAt(page, 60);
  const before = await page.textContent('#hash');
  for (const id of ['#contacts', '#axes']) await page.check(id);
  await page.selectOption('#cut', 'y');
  await page.waitForFunction(() => window.yawara.stage.frame.axes.length > 0 && window.yawara.stage.frame.bodies[0].cut.length > 0);
  // The cut of a box fills its cross-section: triangles of the cut have the area of a slice.
  const area = await page.evaluate(() => {
    const { cut } = window.yawara.stage.frame.bodies[0];
    let sum = 0;
    for (let i = 0; i < cut.length; i += 12) {
      const [a, b, c] = [cut.subarray(i), cut.subarray(i + 4), cut.subarray(i + 8)];
      sum += 0.5 * Math.abs((b[0] - a[0]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[0] - a[0]));
    }
    return sum;
  });
  assert.ok(area > 0.05, `the cut is ${area} m^2`);
  // Looking changes nothing, and shows where the body stands in the end.
  await page.evaluate(() => {
    const { session } = window.yawara;
    window.yawara.report = undefined;
    document.querySelector('#canvas').dataset.frame = '';
    session.open({ name: session.name, text: session.text, changes: [], until: 60, keepView: true });
  });
  await page.waitForFunction(() => window.yawara.report?.frame === 60);
  assert.equal(await hashAt(page, 60), before);
  await page.focus('#canvas');
  await page.keyboard.press('p');
  await page.waitForFunction(() => window.yawara.stage.frame.contacts.length > 0);
  await close(page);
}

async function plasticBodiesHaveASkin(on) {
  const page = await open(on, '?scene=clay_on_jelly&at=1');
  await page.waitForFunction(() => window.yawara.stage.frame?.bodies.some((body) => body.kind === 'skin' && body.triangles.length > 1000));
  // Closed: every edge has two sides.
  const openEdges = await page.evaluate(() => {
    const { triangles } = window.yawara.stage.frame.bodies.find((body) => body.kind === 'skin');
    const sides = new Map();
    for (let i = 0; i < triangles.length; ++i) {
      const a = triangles[i];
      const b = triangles[i % 3 === 2 ? i - 2 : i + 1];
      sides.set(`${a} ${b}`, (sides.get(`${a} ${b}`) ?? 0) + 1);
    }
    return [...sides.keys()].filter((side) => !sides.has(side.split(' ').reverse().join(' '))).length;
  });
  assert.equal(openEdges, 0);
  await page.uncheck('#skins');
  await page.waitForFunction(() => window.yawara.stage.frame.bodies.some((body) => body.kind === 'particles'));
  await close(page);
}

export const tests = [
  ['sliders make a pose that runs natively', slidersMakeAPoseThatRunsNatively],
  ['a gizmo turns a part', gizmoTurnsAPart],
  ['a brush is the same on both sides', brushIsTheSameOnBothSides],
  ['disappointing poses are explained; rods and sheets have poses', disappointingPosesAreExplained],
  ['paint runs natively', paintRunsNatively],
  ['pose and paint fit a phone and the keyboard', toolsFitAPhoneAndTheKeyboard],
  ['contacts, turns and a filled cut', insideIsShown],
  ['plastic bodies have a closed skin', plasticBodiesHaveASkin],
];
