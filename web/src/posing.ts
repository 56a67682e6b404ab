// SPDX-License-Identifier: MIT
// Making a pose by hand: tools that move, turn, scale and sculpt a body through its own elasticity,
// left and right alike if wished, and sliders of the deformers.
import type { Gizmo, GizmoMode } from './gizmo';
import type { Hand } from './hand';
import { History } from './history';
import { DEFORMERS, type Handle, type PoseCheck, type Vec3 } from './protocol';
import { checkRow, choiceButtons, mainButton, makeButton, selectRow, setSlider, sliderRow } from './rows';
import type { Session } from './session';
import type { Stage } from './stage';

type Tool = 'move' | 'gizmo' | 'brush';

const DEGREE = Math.PI / 180;
// Reach of the sliders, in the units of the deformers.
const REACH: Record<(typeof DEFORMERS)[number], number> = {
  twist: Math.PI,
  bend: Math.PI,
  s_bend: Math.PI,
  shear: 1,
  taper: 1,
  squash: 0.8,
  stretch: 1,
  scale: 0.8,
};
// Flaws of poses, as in yw_pose_flaw.
const AT_REST = 2;
const TWIN = 4;
const ANGLES = new Set(['twist', 'bend', 's_bend']);
const AXES: Record<string, Vec3> = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
const percent = (value: number): string => `${Math.round(100 * value)} %`;

export interface Keeper {
  /** example: the one that is edited, -1: none. isNew: keep it beside that one. */
  keep(positions: Float32Array, example: number, isNew: boolean): void;
  leave(): void;
}

export class Posing implements Hand {
  readonly element = document.createElement('div');
  isOn = false;
  private body = 0;
  private example = -1;
  private tool: Tool = 'move';
  private handles: Handle[] = [];
  private gizmo: Gizmo | undefined;
  private chosen = 0;
  /** What the pointer holds: a handle, 0 for the one just made, and where it was taken. */
  private held: { id: number; start: Vec3; motion: Handle['motion'] } | undefined;
  private isNewHandle = false;
  private readonly history = new History<Float32Array>();
  private now: Float32Array | undefined;
  private wish: 'note' | 'keep' | 'keep-new' = 'note';
  private readonly note = document.createElement('p');
  private readonly question = document.createElement('div');
  private readonly radius = sliderRow('pose-radius', 'size of the hand', 0.03, 0.6, 0.12, percent);
  private readonly strength = sliderRow('pose-strength', 'strength', 0.05, 1, 0.7, percent);
  private readonly falloff = sliderRow('pose-falloff', 'falloff', 0.3, 4, 1.5, (v) => (v < 0.8 ? 'flat' : v < 2 ? 'round' : 'sharp'));
  private readonly mirror = checkRow('pose-mirror', 'left and right alike');
  private readonly axis = selectRow('pose-axis', 'axis', [
    ['y', 'y, upwards'],
    ['x', 'x, sideways'],
    ['z', 'z, forwards'],
  ]);
  private readonly sliders: HTMLInputElement[] = [];
  private readonly modes: ReturnType<typeof choiceButtons<GizmoMode>>;
  private readonly tools: ReturnType<typeof choiceButtons<Tool>>;
  private readonly undoButton = makeButton('Undo', 'Undo (Ctrl-Z)', () => this.undo());
  private readonly redoButton = makeButton('Redo', 'Redo (Ctrl-Shift-Z)', () => this.redo());
  private readonly keepNew = makeButton('Keep as new', 'Keep this shape beside the one it started from', () => this.askToKeep('keep-new'));

  constructor(
    private readonly session: Session,
    private readonly stage: Stage,
    private readonly makeGizmo: (move: (id: number, motion: Handle['motion']) => void, done: () => void) => Promise<Gizmo>,
    private readonly keeper: Keeper,
  ) {
    this.element.className = 'posing-tools';
    this.note.className = 'note';
    this.question.setAttribute('role', 'alert');
    this.tools = choiceButtons<Tool>(
      'Tool',
      [
        ['move', 'Pull', 'Pull a part; what you let go stays held'],
        ['gizmo', 'Gizmo', 'Move, turn and scale a part with arrows, rings and boxes'],
        ['brush', 'Brush', 'Sculpt softly; strokes stay'],
      ],
      (tool) => void this.take(tool),
    );
    this.modes = choiceButtons<GizmoMode>(
      'Gizmo',
      [
        ['translate', 'Move', 'Move the part'],
        ['rotate', 'Turn', 'Turn the part'],
        ['scale', 'Scale', 'Scale the part'],
      ],
      (mode) => this.gizmo && (this.gizmo.mode = mode),
    );
    this.build();
    session.on('posed', ({ handles, held }) => this.show(handles, held));
    session.on('pose-state', ({ words }) => this.remember(words));
    session.on('pose', ({ positions, checks }) => this.hear(positions, checks));
  }

  private build(): void {
    const actions = document.createElement('div');
    actions.className = 'buttons';
    actions.append(
      makeButton('Let go', 'Let everything go and keep the shape', () => this.act('bake')),
      makeButton('Spring back', 'Let everything go; the body springs back', () => this.act('relax')),
    );
    const steps = document.createElement('div');
    steps.className = 'buttons';
    steps.append(this.undoButton, this.redoButton);
    const deformers = document.createElement('details');
    deformers.innerHTML = '<summary>Deformers</summary>';
    deformers.append(this.axis.row);
    for (const name of DEFORMERS) {
      const show = (value: number): string => (ANGLES.has(name) ? `${Math.round(value / DEGREE)}°` : percent(value));
      const { row, input } = sliderRow(`pose-${name}`, name.replace('_', ' '), -REACH[name], REACH[name], 0, show);
      input.addEventListener('input', () => this.deform());
      input.addEventListener('change', () => this.save());
      this.sliders.push(input);
      deformers.append(row);
    }
    this.axis.input.addEventListener('change', () => {
      this.deform();
      this.save();
    });
    const end = document.createElement('div');
    end.className = 'buttons';
    end.append(
      mainButton('Keep', 'Keep this shape as an example', () => this.askToKeep('keep')),
      this.keepNew,
      makeButton('Cancel', 'Back to the scene', () => this.keeper.leave()),
    );
    this.element.append(this.tools.element, this.modes.element, this.mirror.row, this.radius.row, this.strength.row, this.falloff.row, deformers, actions, steps, this.note, this.question, end);
  }

  // Beginning and ending --------------------------------------------------------------------------

  begin(body: number, example: number): void {
    this.isOn = true;
    this.body = body;
    this.example = example;
    this.history.clear();
    this.now = undefined;
    this.held = undefined;
    this.handles = [];
    this.note.textContent = 'Pull the body into shape; what you let go stays held. Right click, or press long, to hold or let go of a part.';
    this.question.replaceChildren();
    this.keepNew.hidden = example < 0;
    this.resetSliders();
    this.tools.set('move');
    this.modes.set('translate');
    void this.take('move');
    this.session.send({ do: 'pose-begin', body, example });
    this.save();
  }

  end(): void {
    this.isOn = false;
    this.gizmo?.dispose();
    this.gizmo = undefined;
    this.stage.markHandles(undefined);
    this.stage.showCursor(undefined, 0);
  }

  private async take(tool: Tool): Promise<void> {
    this.tool = tool;
    this.modes.element.hidden = tool !== 'gizmo';
    this.strength.row.hidden = this.falloff.row.hidden = tool !== 'brush';
    if (tool !== 'gizmo') {
      this.gizmo?.detach();
      return;
    }
    this.gizmo ??= await this.makeGizmo(
      (id, motion) => this.session.send({ do: 'pose-move', id, motion }),
      () => this.save(),
    );
    this.attachGizmo();
  }

  private attachGizmo(): void {
    const handle = this.handles.find((one) => one.id === this.chosen);
    if (this.tool === 'gizmo' && handle) this.gizmo?.attach(handle);
    else this.gizmo?.detach();
  }

  // The hand --------------------------------------------------------------------------------------

  /** Rods and sheets feel everything about a pose. */
  private get isThin(): boolean {
    return this.session.methodOf(this.body) === 'slender';
  }

  private get reach(): number {
    return Number(this.radius.input.value) * (this.session.scene?.bodies[this.body]?.size ?? 1);
  }

  private handleAt(at: Vec3): Handle | undefined {
    const near = (one: Handle): number => Math.hypot(one.at[0] - at[0], one.at[1] - at[1], one.at[2] - at[2]);
    const best = this.handles.filter((one) => !one.anchor).sort((a, b) => near(a) - near(b))[0];
    return best && near(best) < 1.2 * this.reach ? best : undefined;
  }

  press(body: number, at: Vec3): void {
    if (body !== this.body) return;
    const known = this.tool === 'brush' ? undefined : this.handleAt(at);
    const still: Handle['motion'] = { offset: [0, 0, 0], turn: [0, 0, 0, 1], scale: 1 };
    this.held = { id: known?.id ?? 0, start: at, motion: known?.motion ?? still };
    if (known) {
      this.chosen = known.id;
      this.attachGizmo();
      return;
    }
    this.resetSliders();
    this.hold(at);
  }

  private hold(at: Vec3): void {
    this.isNewHandle = true;
    this.session.send({
      do: 'pose-hold',
      grip: {
        at,
        radius: this.reach,
        brush: this.tool === 'brush',
        strength: Number(this.strength.input.value),
        falloff: Number(this.falloff.input.value),
        mirror: this.mirror.input.checked,
      },
    });
  }

  drag(to: Vec3): void {
    if (!this.held || this.tool === 'gizmo') return;
    const { id, start, motion } = this.held;
    const offset = motion.offset.map((own, k) => own + to[k]! - start[k]!) as Vec3;
    this.session.send({ do: 'pose-move', id, motion: { ...motion, offset } });
  }

  release(): void {
    if (!this.held) return;
    this.held = undefined;
    if (this.tool === 'brush') this.session.send({ do: 'pose-act', what: 'stroke-end', id: 0 });
    this.save();
  }

  pin(body: number, at: Vec3): void {
    if (body !== this.body) return;
    const known = this.handleAt(at) ?? this.handles.find((one) => one.anchor && this.stage.isNear(one.at, at));
    if (known) this.session.send({ do: 'pose-act', what: 'drop', id: known.id });
    else this.hold(at);
    this.save();
  }

  hover(body: number | undefined, at: Vec3 | undefined): void {
    this.stage.showCursor(body === this.body ? at : undefined, this.reach);
  }

  isBlocked(x: number, y: number): boolean {
    return this.gizmo?.isAt(x, y) ?? false;
  }

  private show(handles: Handle[], held: number): void {
    if (!this.isOn) return;
    this.handles = handles;
    this.stage.markHandles(this.tool === 'brush' ? handles.filter((one) => !one.anchor) : handles);
    const isNew = held > 0 && this.isNewHandle;
    if (isNew) {
      this.isNewHandle = false;
      this.chosen = held;
    }
    if (isNew || !handles.some((one) => one.id === this.chosen)) this.attachGizmo();
  }

  // Whole-body changes ----------------------------------------------------------------------------

  private act(what: 'bake' | 'relax'): void {
    this.resetSliders();
    this.session.send({ do: 'pose-act', what, id: 0 });
    this.save();
  }

  private deform(): void {
    this.session.send({ do: 'pose-deform', amounts: this.sliders.map((slider) => Number(slider.value)), axis: AXES[this.axis.input.value]! });
  }

  private resetSliders(): void {
    for (const slider of this.sliders) setSlider(slider, 0);
  }

  // Undo ------------------------------------------------------------------------------------------

  private save(): void {
    this.session.send({ do: 'pose-save' });
  }

  private remember(words: Float32Array): void {
    if (!this.isOn || words.length === 0) return;
    if (this.now) this.history.push(this.now);
    this.now = words;
    this.tellHistory();
    this.ask('note');
  }

  private tellHistory(): void {
    this.undoButton.disabled = !this.history.canUndo;
    this.redoButton.disabled = !this.history.canRedo;
  }

  private load(words: Float32Array | undefined): void {
    if (!words) return;
    this.now = words;
    this.resetSliders();
    this.session.send({ do: 'pose-load', words });
    this.tellHistory();
    this.ask('note');
  }

  undo(): void {
    if (this.now) this.load(this.history.undo(this.now));
  }
  redo(): void {
    if (this.now) this.load(this.history.redo(this.now));
  }

  // Keeping ---------------------------------------------------------------------------------------

  private ask(wish: Posing['wish']): void {
    this.wish = wish;
    this.session.send({ do: 'pose', body: this.body });
  }

  private askToKeep(wish: 'keep' | 'keep-new'): void {
    this.question.replaceChildren();
    this.ask(wish);
  }

  /** What is said about the pose; '' if nothing is wrong with it. */
  private flawOf(check: PoseCheck | undefined): string {
    // A pose that is edited may well be like its old self.
    const isItself = check?.flaw === TWIN && check.nearest === this.example && this.wish !== 'keep-new';
    return !check || check.flaw === 0 || isItself ? '' : check.words;
  }

  private describe(check: PoseCheck): string {
    const stretch = `${(100 * check.stretch).toFixed(1)} %`;
    if (check.flaw === AT_REST) return 'It still has the shape of the rest pose.';
    if (this.isThin) return `It differs from the rest pose by ${stretch} of its size.`;
    return `Stretched by ${stretch}; ${percent(check.seen)} of the change is felt${check.inverted > 0 ? `; ${check.inverted} tets are inside out` : ''}.`;
  }

  private hear(positions: Float32Array, checks: PoseCheck[]): void {
    if (!this.isOn) return;
    const check = checks.at(-1);
    const flaw = this.flawOf(check);
    if (check && this.history.canUndo) this.note.textContent = this.describe(check);
    if (this.wish === 'note') return;
    const isNew = this.wish === 'keep-new';
    if (!flaw) this.keeper.keep(positions, this.example, isNew);
    else this.warn(`This pose ${flaw}`, () => this.keeper.keep(positions, this.example, isNew));
  }

  private warn(words: string, anyway: () => void): void {
    const text = document.createElement('p');
    text.className = 'warning';
    text.textContent = words;
    const buttons = document.createElement('div');
    buttons.className = 'buttons';
    const back = makeButton('Change it', 'Go on shaping', () => this.question.replaceChildren());
    buttons.append(back, makeButton('Keep anyway', 'Keep this pose as it is', anyway));
    this.question.replaceChildren(text, buttons);
    back.focus();
  }
}
