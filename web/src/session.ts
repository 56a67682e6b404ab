// SPDX-License-Identifier: MIT
// The scene that is open, and the source that runs it.
import type { Change, Command, Message, Scene, Setting } from './protocol';
import { modelOf, parseScene, type JsonObject } from './scene_text';
import type { Source } from './source';

export interface Opening {
  name: string;
  text: string;
  changes: Change[];
  /** Run to this frame and pause; -1: play. */
  until: number;
  keepView: boolean;
}

type Listener<K extends Message['say']> = (message: Extract<Message, { say: K }>) => void;

/** A key as part of a path, in brackets where a dot would be misread. */
const pathKey = (key: string): string => (/^\w+$/.test(key) ? `.${key}` : `["${key}"]`);

export class Session {
  name = '';
  text = '';
  changes: Change[] = [];
  scene: Scene | undefined;
  parsed: JsonObject | undefined;
  keepView = false;
  private pending: Opening | undefined;
  private readonly listeners = new Map<string, ((message: Message) => void)[]>();

  constructor(private readonly source: Source) {
    this.on('opened', (message) => {
      const from = message.own ? { ...message.own, keepView: this.scene !== undefined } : this.pending;
      if (!from) return;
      ({ name: this.name, text: this.text, changes: this.changes, keepView: this.keepView } = from);
      this.parsed = parseScene(this.text);
      this.scene = message.scene;
    });
    source.listen((message) => {
      for (const listener of this.listeners.get(message.say) ?? []) listener(message);
    });
  }

  on<K extends Message['say']>(say: K, listener: Listener<K>): void {
    const list = this.listeners.get(say) ?? [];
    list.push(listener as (message: Message) => void);
    this.listeners.set(say, list);
  }

  send(command: Command, transfer: Transferable[] = []): void {
    this.source.send(command, transfer);
  }

  /** What was open stays if the scene has a mistake. */
  open(opening: Opening): void {
    this.pending = opening;
    this.send({ do: 'open', path: `${opening.name}.json`, text: opening.text, changes: opening.changes, until: opening.until });
  }

  methodOf(body: number): string {
    const model = this.scene?.bodies[body]?.model;
    return model === undefined ? '' : (this.scene?.models[model]?.method ?? '');
  }

  /** Where a setting of a body is in the scene. */
  pathOf(body: number, setting: Pick<Setting, 'key' | 'model'>): string {
    const entry = this.scene?.bodies[body]?.entry ?? 0;
    const place = setting.model ? (modelOf(this.parsed, entry)?.path ?? `bodies[${entry}]`) : `bodies[${entry}]`;
    return `${place}.${this.methodOf(body)}${pathKey(setting.key)}`;
  }

  isChanged(path: string): boolean {
    return this.changes.some((change) => change.path === path);
  }

  /** Changes a setting: at once, or where it defines the model by opening the scene again. */
  change(body: number, setting: Setting, value: string): void {
    const path = this.pathOf(body, setting);
    this.changes = [...this.changes.filter((change) => change.path !== path), { path, value }];
    if (setting.model) this.open({ name: this.name, text: this.text, changes: this.changes, until: -1, keepView: true });
    else this.send({ do: 'set', body, key: setting.key, value });
  }
}
