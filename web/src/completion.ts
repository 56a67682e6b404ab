// SPDX-License-Identifier: MIT
// What can be typed at a place of a scene file, from its schema.
import type { Completion } from '@codemirror/autocomplete';

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  enum?: (string | number)[];
  const?: string;
  default?: unknown;
  $defs?: Record<string, Schema>;
}

/** Keys and -1 for lists, from the root to the object or list that is open at the end of the text. */
export function openPath(text: string): { path: (string | -1)[]; key: string | undefined } {
  const stack: { key: string | undefined; isList: boolean }[] = [];
  let last: string | undefined;
  let key: string | undefined;
  for (const [token] of text.matchAll(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[{}[\],:]/g)) {
    if (token.startsWith('/')) continue;
    if (token === '{' || token === '[') {
      stack.push({ key, isList: token === '[' });
      key = undefined;
    } else if (token === '}' || token === ']') {
      stack.pop();
      key = undefined;
    } else if (token === ':') key = last;
    else if (token === ',') key = undefined;
    else last = token.slice(1, -1);
  }
  // What is inside of a list is one of its items.
  const path: (string | -1)[] = [];
  for (const level of stack) {
    if (level.key !== undefined) path.push(level.key);
    if (level.isList) path.push(-1);
  }
  return { path, key };
}

export class SceneSchema {
  private readonly root: Schema;
  constructor(text: string) {
    this.root = JSON.parse(text) as Schema;
  }

  /** The alternatives that a schema stands for. */
  private spread(schema: Schema | undefined, depth = 0): Schema[] {
    if (!schema || depth > 8) return [];
    if (schema.$ref) return this.spread(this.root.$defs?.[schema.$ref.replace('#/$defs/', '')], depth + 1);
    if (schema.anyOf) return schema.anyOf.flatMap((one) => this.spread(one, depth + 1));
    return [schema];
  }

  private at(path: (string | -1)[]): Schema[] {
    let now = this.spread(this.root);
    for (const step of path) {
      now = now.flatMap((schema) => {
        if (step === -1) return this.spread(schema.items);
        const own = schema.properties?.[step];
        const any = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
        return this.spread(own ?? any);
      });
    }
    return now;
  }

  keys(path: (string | -1)[]): Completion[] {
    return this.at(path).flatMap((schema) =>
      Object.entries(schema.properties ?? {}).map(([key, value]) => ({
        label: `"${key}"`,
        apply: `"${key}": `,
        type: 'property',
        info: value.description ?? this.spread(value)[0]?.description ?? '',
      })),
    );
  }

  values(path: (string | -1)[]): Completion[] {
    return this.at(path).flatMap((schema) => {
      const words = [...(schema.enum ?? []), ...(schema.const ? [schema.const] : [])];
      const all = words.map((word) => ({ label: JSON.stringify(word), type: 'enum' }));
      if (schema.default !== undefined) all.push({ label: JSON.stringify(schema.default), type: 'constant' });
      return all;
    });
  }
}
