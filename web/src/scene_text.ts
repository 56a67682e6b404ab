// SPDX-License-Identifier: MIT
// Scene files as text: JSON with comments. Only what the page must know of them; the core reads them.
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Removes // and slash-star comments outside of strings. */
export function withoutComments(text: string): string {
  return text.replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) => (part.startsWith('"') ? part : ' '));
}

/** The scene as an object; undefined if it is not JSON. */
export function parseScene(text: string): JsonObject | undefined {
  try {
    const scene = JSON.parse(withoutComments(text)) as Json;
    return isObject(scene) ? scene : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function bodyEntry(scene: JsonObject | undefined, entry: number): JsonObject | undefined {
  const bodies = scene?.bodies;
  const body = Array.isArray(bodies) ? bodies[entry] : undefined;
  return isObject(body) ? body : undefined;
}

/** What a body is made of: the entry in "models" that it names, or the body itself. */
export function modelOf(scene: JsonObject | undefined, entry: number): { node: JsonObject; path: string } | undefined {
  const body = bodyEntry(scene, entry);
  if (!body) return undefined;
  const models = scene?.models;
  if (typeof body.model === 'string' && isObject(models)) {
    const model = models[body.model];
    if (isObject(model)) return { node: model, path: `models.${body.model}` };
  }
  return { node: body, path: `bodies[${entry}]` };
}

/** Names of the rest pose and the examples of a body. */
export function poseNames(scene: JsonObject | undefined, entry: number, count: number): string[] {
  const examples = modelOf(scene, entry)?.node.examples;
  return Array.from({ length: count }, (_, i) => {
    if (i === 0) return 'rest';
    const example = Array.isArray(examples) ? examples[i - 1] : undefined;
    return isObject(example) && typeof example.name === 'string' ? example.name : `example ${i}`;
  });
}

/** What is at a path such as bodies[1].match["a.b"], from the root on; undefined from where there is nothing. */
function along(scene: JsonObject | undefined, path: string): (Json | undefined)[] {
  let now: Json | undefined = scene;
  return [...path.matchAll(/\["([^"]*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(([, quoted, index, key]) => {
    if (index !== undefined) now = Array.isArray(now) ? now[Number(index)] : undefined;
    else now = isObject(now) ? now[(quoted ?? key)!] : undefined;
    return now;
  });
}

/** True if two scenes have the same value at a path, or both none, in a body that is in both. */
export function sameAt(a: JsonObject | undefined, b: JsonObject | undefined, path: string): boolean {
  const [first, second] = [along(a, path), along(b, path)];
  return JSON.stringify(first.at(-1)) === JSON.stringify(second.at(-1)) && first.every((value, i) => (value === undefined) === (second[i] === undefined));
}
