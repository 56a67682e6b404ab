// SPDX-License-Identifier: MIT
// Keeps the address in step with what is shown, so that a link shows the same.
import { packText, readLink, writeLink } from './link';
import type { Session } from './session';

// Browsers refuse addresses that change too often, ms.
const PAUSE = 200;
// Longer ones are cut by some programs that links are sent with, letters.
const LONGEST = 500_000;

export class Address {
  /** The scene's text as the address brings it, and as it would without a text of its own. */
  private held = '';
  private plain: string | undefined;
  /** Files of this device, which no link can bring. */
  private readonly local = new Set<string>();
  private canBeSent = true;
  private timer = 0;

  constructor(
    private readonly session: Session,
    private readonly first: string,
    private readonly threads: number,
  ) {}

  /** The address has led to this text; isPlain: without having it in itself. */
  lead(text: string, isPlain: boolean): void {
    this.held = text;
    this.plain = isPlain ? text : undefined;
    this.canBeSent = true;
  }

  /** Goes to another address. */
  go(scene: string): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.canBeSent = true;
    history.pushState(null, '', writeLink({ view: '', scene, changes: [], at: -1, threads: this.threads, text: '' }));
  }

  addLocal(name: string): void {
    this.local.add(name);
  }

  /** True if what is open is not what the address says. */
  get isStale(): boolean {
    const { view, scene } = readLink(location);
    return this.session.text !== this.held || (view === '' && this.session.name !== (scene || this.first));
  }

  /** Soon, and once for many changes in a row. */
  remember(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.write(), PAUSE);
  }

  private get needsLocalFiles(): boolean {
    return [...this.local].some((name) => this.session.text.includes(`${name}"`));
  }

  /** An address that shows the same elsewhere; '' if there is none. */
  async link(): Promise<string> {
    if (this.timer !== 0 || this.isStale) await this.write();
    return this.canBeSent ? location.href : '';
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = 0;
    const { name, text, changes } = this.session;
    const packed = text === this.plain ? '' : await packText(text);
    // Meanwhile another scene may have been opened.
    if (text !== this.session.text || name !== this.session.name) return;
    this.held = text;
    this.canBeSent = packed.length <= LONGEST && !this.needsLocalFiles;
    const { view } = readLink(location);
    history.replaceState(null, '', this.canBeSent ? writeLink({ view, scene: name, changes, at: -1, threads: this.threads, text: packed }) : location.pathname);
  }
}
