// SPDX-License-Identifier: MIT
// Undo and redo of anything that can be kept as a value.

// Steps that are kept: states of a pose are large.
const MOST = 200;

export class History<T> {
  private done: T[] = [];
  private undone: T[] = [];
  private lastKind = '';
  private lastTime = 0;

  /** Keeps what was before a change. Changes of one kind within a second are one. */
  push(before: T, kind = ''): void {
    const now = performance.now();
    const isSame = kind !== '' && kind === this.lastKind && now - this.lastTime < 1000;
    this.lastKind = kind;
    this.lastTime = now;
    if (isSame && this.done.length > 0) return;
    this.done.push(before);
    if (this.done.length > MOST) this.done.shift();
    this.undone.length = 0;
  }

  /** What was kept last. */
  get last(): T | undefined {
    return this.done.at(-1);
  }
  get canUndo(): boolean {
    return this.done.length > 0;
  }
  get canRedo(): boolean {
    return this.undone.length > 0;
  }

  /** What to go back to. */
  undo(now: T): T | undefined {
    const to = this.done.pop();
    if (to !== undefined) this.undone.push(now);
    this.lastKind = '';
    return to;
  }

  redo(now: T): T | undefined {
    const to = this.undone.pop();
    if (to !== undefined) this.done.push(now);
    this.lastKind = '';
    return to;
  }

  clear(): void {
    this.done.length = this.undone.length = 0;
  }
}
