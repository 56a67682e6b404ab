// SPDX-License-Identifier: MIT
// Changes of the scene's text and parameters that can be undone.
import { History } from './history';
import type { Change } from './protocol';
import { parseScene, sameAt, type JsonObject } from './scene_text';
import type { Session } from './session';

interface Moment {
  text: string;
  changes: Change[];
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
    const { now } = this;
    // A text with a mistake has changed nothing.
    if (this.history.last?.text === now.text && this.history.last.changes === now.changes) return;
    this.history.push(now, kind);
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

  /** Runs another text. Parameters that were changed in the panel and now in the text are those of the text. */
  type(text: string): void {
    const [before, after] = [parseScene(this.session.text), parseScene(text)];
    const isKept = ({ path }: Change): boolean => sameAt(before, after, path);
    this.note('text');
    this.go({ text, changes: after ? this.session.changes.filter(isKept) : this.session.changes });
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
