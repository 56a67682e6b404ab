// SPDX-License-Identifier: MIT
// Changes of the scene's text and parameters that can be undone.
import { History } from './history';
import type { Change } from './protocol';
import { parseScene, type JsonObject } from './scene_text';
import type { Session } from './session';

interface Moment {
  text: string;
  changes: Change[];
}

export function base64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

/** Empty if the text is no base64. */
export function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

export class Edits {
  private readonly history = new History<Moment>();

  constructor(
    private readonly session: Session,
    private readonly onChange: () => void,
  ) {}

  private get now(): Moment {
    return { text: this.session.text, changes: this.session.changes };
  }
  get canUndo(): boolean {
    return this.history.canUndo;
  }
  get canRedo(): boolean {
    return this.history.canRedo;
  }

  /** Before something changes; changes of one kind in a row are one. */
  note(kind: string): void {
    this.history.push(this.now, kind);
    this.onChange();
  }

  /** Changes the scene's text and runs it again. */
  edit(change: (scene: JsonObject) => void): void {
    const scene = parseScene(this.session.text);
    if (!scene) return;
    change(scene);
    this.note('');
    this.go({ text: JSON.stringify(scene, null, 2), changes: this.session.changes });
  }

  private go(to: Moment | undefined): void {
    if (to) this.session.open({ name: this.session.name, ...to, until: -1, keepView: true });
    this.onChange();
  }

  undo(): void {
    this.go(this.history.undo(this.now));
  }
  redo(): void {
    this.go(this.history.redo(this.now));
  }

  /** Another scene has nothing to do with what was done here. */
  forget(): void {
    this.history.clear();
    this.onChange();
  }
}
