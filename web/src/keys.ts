// SPDX-License-Identifier: MIT
// Keys, as in Box2D's samples, and the dialog that lists them.
export interface KeyAction {
  /** As in KeyboardEvent.key, after Ctrl+ and Shift+; letters in lower case. */
  key: string;
  /** '': not listed. */
  shown: string;
  about: string;
  act(): void;
  /** Only while the view has the focus, because the key means something else in the page. */
  inView?: boolean;
}

const GESTURES: [string, string][] = [
  ['Drag a body', 'moves it; let go while moving to throw it'],
  ['Right click, long press', 'pins a body there, or removes the pin'],
  ['Drag beside', 'turns the view; two fingers or the right button move it'],
  ['Wheel, pinch', 'nearer and farther'],
];

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function listenToKeys(actions: KeyAction[], view: HTMLElement): void {
  document.addEventListener('keydown', (event) => {
    if (isTyping(event.target) || event.altKey || document.querySelector('dialog[open]')) return;
    const isControl = event.ctrlKey || event.metaKey;
    const key = (isControl ? `Ctrl+${event.shiftKey ? 'Shift+' : ''}` : '') + event.key;
    const action = actions.find((one) => one.key.toLowerCase() === key.toLowerCase());
    if (!action || (action.inView && document.activeElement !== view)) return;
    if (event.key === 'Tab' && event.shiftKey) return;
    event.preventDefault();
    action.act();
  });
}

export function fillHelp(dialog: HTMLDialogElement, actions: KeyAction[]): void {
  const row = (what: string, about: string): string => `<dt>${what}</dt><dd>${about}</dd>`;
  const keys = actions.filter((one) => one.shown).map((one) => row(`<kbd>${one.shown}</kbd>`, one.about + (one.inView ? ' (when the view has the focus)' : '')));
  dialog.innerHTML = `<h2 id="help-title">Keys and gestures</h2>
    <dl>${GESTURES.map(([what, about]) => row(what, about)).join('')}</dl>
    <dl>${keys.join('')}</dl>
    <form method="dialog"><button class="icon-text" autofocus>Close</button></form>`;
}
