// SPDX-License-Identifier: MIT
// The panel: which body, its parameters, poses and numbers, and seeing inside.
import type { Inside } from './inside';
import { Numbers } from './numbers';
import type { Poses } from './poses';
import type { Report } from './protocol';
import { poseNames } from './scene_text';
import type { Session } from './session';
import { SettingsPanel } from './settings';

export class Panel {
  private readonly chooser = document.createElement('select');
  private readonly numbers: Numbers;
  private readonly settings: SettingsPanel;
  body = 0;

  constructor(
    private readonly element: HTMLElement,
    private readonly session: Session,
    private readonly poses: Poses,
    private readonly inside: Inside,
    onChange: () => void,
  ) {
    this.numbers = new Numbers(() => session.scene);
    this.settings = new SettingsPanel((setting, value) => {
      session.change(this.body, setting, value);
      onChange();
    });
    this.chooser.setAttribute('aria-label', 'Body');
    this.chooser.id = 'body';
    this.chooser.addEventListener('change', () => this.choose(Number(this.chooser.value)));
    this.element.append(this.chooser, this.settings.element, poses.element, inside.element, this.numbers.element);
    session.on('settings', ({ body, rows }) => {
      if (body !== this.body) return;
      const isChanged = (key: string): boolean => session.isChanged(session.pathOf(body, { key, model: false }));
      this.settings.show(session.methodOf(body), rows, isChanged);
    });
  }

  /** Lists the bodies of the scene; the choice stays if it can. */
  open(isSame: boolean): void {
    const { scene } = this.session;
    if (!scene) return;
    this.chooser.replaceChildren(...scene.bodies.map((body, i) => new Option(body.name, String(i))));
    this.chooser.hidden = scene.bodies.length < 2;
    this.inside.open(scene);
    const withExamples = scene.bodies.findIndex((body) => poseNames(this.session.parsed, body.entry, 2)[1] !== 'example 1');
    this.choose(isSame && this.body < scene.bodies.length ? this.body : Math.max(withExamples, 0));
  }

  choose(body: number): void {
    this.body = body;
    this.chooser.value = String(body);
    const entry = this.session.scene?.bodies[body]?.entry ?? 0;
    this.numbers.choose(body, (count) => poseNames(this.session.parsed, entry, count));
    this.poses.choose(body);
    this.session.send({ do: 'settings', body });
  }

  show(report: Report): void {
    if (this.element.clientWidth > 0) this.numbers.show(report);
  }
}
