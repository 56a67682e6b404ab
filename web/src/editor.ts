// SPDX-License-Identifier: MIT
// The scene as text, beside the view. Loaded when it is opened for the first time.
import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { json } from '@codemirror/lang-json';
import { setDiagnostics } from '@codemirror/lint';
import { oneDark } from '@codemirror/theme-one-dark';
import { EditorView, basicSetup } from 'codemirror';
import { SceneSchema, openPath } from './completion';

// Typing pauses this long before the scene runs, ms.
const PAUSE = 600;

function completeFrom(schema: SceneSchema) {
  return (context: CompletionContext): CompletionResult | null => {
    const before = context.state.sliceDoc(0, context.pos);
    const word = context.matchBefore(/"?[\w]*/);
    const start = word ? word.from : context.pos;
    const { path, key } = openPath(before.slice(0, start));
    const isKey = key === undefined && path.at(-1) !== -1;
    const options = isKey ? schema.keys(path) : schema.values(key === undefined ? path : [...path, key]);
    if (options.length === 0 || (!context.explicit && !word?.text)) return null;
    // The editor closes quotation marks by itself; options bring both of theirs.
    const isClosed = word?.text.startsWith('"') && context.state.sliceDoc(context.pos, context.pos + 1) === '"';
    return { from: start, to: context.pos + Number(isClosed ?? false), options, validFor: /^"?\w*$/ };
  };
}

export class Editor {
  private readonly view: EditorView;
  private timer = 0;
  private isSetting = false;
  /** The text that was run last, if it was typed here. */
  private typed: string | undefined;

  constructor(parent: HTMLElement, schema: string, run: (text: string) => void) {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    this.view = new EditorView({
      parent,
      extensions: [
        basicSetup,
        json(),
        autocompletion({ override: [completeFrom(new SceneSchema(schema))] }),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Scene as text' }),
        ...(dark ? [oneDark] : []),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || this.isSetting) return;
          clearTimeout(this.timer);
          this.timer = window.setTimeout(() => {
            this.typed = this.text;
            run(this.typed);
          }, PAUSE);
        }),
      ],
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Shows another text, unless it is the one being edited: typing goes on while a scene is built. */
  show(text: string): void {
    if (text === this.text || text === this.typed) return;
    clearTimeout(this.timer);
    this.typed = undefined;
    this.isSetting = true;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.isSetting = false;
  }

  /** Marks the place that a message of the core names; '' removes the mark. */
  mark(message: string): void {
    const place = /:(\d+):(\d+): /.exec(message);
    const { doc } = this.view.state;
    if (!place || Number(place[1]) > doc.lines) {
      this.view.dispatch(setDiagnostics(this.view.state, []));
      return;
    }
    const line = doc.line(Number(place[1]));
    const from = Math.min(line.from + Number(place[2]) - 1, line.to);
    const to = Math.max(Math.min(from + 1, doc.length), from);
    this.view.dispatch(setDiagnostics(this.view.state, [{ from, to, severity: 'error', message: message.slice(place.index + place[0].length) }]));
  }
}
