// SPDX-License-Identifier: MIT
// Makes the static site: bundles, the core, scenes and pictures. usage: node build.mjs CORE_FOLDER OUT_FOLDER
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transformSync } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [core, out] = process.argv.slice(2);
if (!core || !out) throw new Error('usage: node build.mjs CORE_FOLDER OUT_FOLDER');

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, 'core'), { recursive: true });
cpSync(join(here, 'static'), out, { recursive: true });
cpSync(join(here, 'node_modules/coi-serviceworker/coi-serviceworker.min.js'), join(out, 'coi-serviceworker.js'));
for (const file of readdirSync(core)) {
  if (/^core_.*\.wasm$/.test(file)) cpSync(join(core, file), join(out, 'core', file));
  if (/^core_.*\.js$/.test(file)) writeFileSync(join(out, 'core', file), transformSync(readFileSync(join(core, file), 'utf8'), { minify: true, target: 'es2022' }).code);
}

const common = { bundle: true, minify: true, target: 'es2022', outdir: out, logLevel: 'warning', legalComments: 'linked' };
// Parts that are not needed for the first picture are loaded when they are asked for.
await build({ ...common, entryPoints: [join(here, 'src/page.ts')], format: 'esm', splitting: true, chunkNames: 'parts/[name]-[hash]' });
await build({ ...common, entryPoints: [join(here, 'src/worker.ts')], format: 'iife' });

// Scenes and what the gallery says about them.
const methods = ['match', 'frames', 'slender', 'fem', 'plastic', 'rigid'];
const sources = { rod: 'slender', sheet: 'slender' };
const gallery = [];
mkdirSync(join(out, 'scenes'));
const scenes = join(here, '../scenes/gallery');
for (const file of readdirSync(scenes).filter((one) => one.endsWith('.json')).sort()) {
  const text = readFileSync(join(scenes, file), 'utf8');
  const name = basename(file, '.json');
  const keys = [...text.matchAll(/"(\w+)"\s*:/g)].map((match) => sources[match[1]] ?? match[1]);
  const used = methods.filter((method) => keys.includes(method));
  // Rigid bodies are what is new in a scene that has them.
  if (used.includes('rigid')) used.sort((a, b) => Number(b === 'rigid') - Number(a === 'rigid'));
  const description = /"description"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? '';
  const picture = existsSync(join(here, `static/thumbs/${name}.webp`));
  // Meshes and point caches that it reads, which lie beside it.
  const files = [...text.matchAll(/"(?:file|mesh)"\s*:\s*"([^"]+)"/g)].map((match) => match[1]);
  gallery.push({ name, picture, title: name.replaceAll('_', ' '), description, files, methods: used.length > 0 ? used : ['match'] });
  for (const one of [file, ...files]) cpSync(join(scenes, one), join(out, 'scenes', one));
}
writeFileSync(join(out, 'gallery.json'), JSON.stringify(gallery));
