// SPDX-License-Identifier: MIT
// The panel: which body, its parameters, poses and numbers, and seeing inside.
import type { Edits } from './edits';
import type { Inside } from './inside';
import { Numbers } from './numbers';
import type { Painting } from './painting';
import type { Poses } from './poses';
import type { Report } from './protocol';
import { poseNames } from './scene_text';
import type { Session } from './session';
import { SettingsPanel } from './settings';

/** What the panel shows and acts on. */
export interface Parts {
  session: Session;
  edits: Edits;
  poses: Poses;
  painting: Painting;
  inside: Inside;
}

export class Panel {
  private readonly chooser = document.createElement('select');
  private readonly numbers: Numbers;
  private readonly settings: SettingsPanel;
  body = 0;

  constructor(
    private readonly element: HTMLElement,
    private readonly parts: Parts,
    onChange: () => void,
  ) {
    const { session, edits, poses, painting, inside } = parts;
    this.numbers = new Numbers(() => session.scene);
    this.settings = new SettingsPanel((setting, value) => {
      edits.note(session.pathOf(this.body, setting));
      session.change(this.body, setting, value);
      onChange();
    });
    this.chooser.setAttribute('aria-label', 'Body');
    this.chooser.id = 'body';
    this.chooser.addEventListener('change', () => this.choose(Number(this.chooser.value)));
    this.element.append(this.chooser, this.settings.element, poses.element, painting.element, inside.element, this.numbers.element);
    session.on('settings', ({ body, rows }) => {
      if (body !== this.body) return;
      const isChanged = (key: string): boolean => session.isChanged(session.pathOf(body, { key, model: false }));
      this.settings.show(session.methodOf(body), rows, isChanged);
    });
  }

  /** Lists the bodies of the scene; the choice stays if it can. */
  open(isSame: boolean): void {
    const { scene } = this.parts.session;
    if (!scene) return;
    this.chooser.replaceChildren(...scene.bodies.map((body, i) => new Option(body.name, String(i))));
    this.chooser.hidden = scene.bodies.length < 2;
    this.parts.inside.open(scene);
    const withExamples = scene.bodies.findIndex((body) => poseNames(this.parts.session.parsed, body.entry, 2)[1] !== 'example 1');
    this.choose(isSame && this.body < scene.bodies.length ? this.body : Math.max(withExamples, 0));
  }

  choose(body: number): void {
    this.body = body;
    this.chooser.value = String(body);
    const entry = this.parts.session.scene?.bodies[body]?.entry ?? 0;
    this.numbers.choose(body, (count) => poseNames(this.parts.session.parsed, entry, count));
    this.parts.poses.choose(body);
    this.parts.painting.choose(body);
    this.parts.session.send({ do: 'settings', body });
  }

  /** A run of so many frames is shown. */
  set length(frames: number) {
    this.numbers.length = frames;
  }

  show(report: Report): void {
    if (this.element.clientWidth > 0) this.numbers.show(report);
  }
}
