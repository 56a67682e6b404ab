// SPDX-License-Identifier: MIT
// Mouse and finger: a drag that starts on a body moves the body, any other turns the view; a right
// click or a long press pins.
import type * as three from 'three';
import type { Hand } from './hand';
import type { Vec3 } from './protocol';
import type { Stage } from './stage';

const LONG_PRESS = 500;
// How far a finger may slip during a long press, pixels.
const SLIP = 8;

interface Hold {
  pointer: number;
  /** The plane in which the pointer moves goes through this. */
  point: three.Vector3;
  startX: number;
  startY: number;
  timer: number;
}

const list = (v: three.Vector3): Vec3 => [v.x, v.y, v.z];

/** Must be made before the camera's controls, which then do not see what starts on a body. */
export class Pointer {
  private hold: Hold | undefined;
  /** What is touched; set once the studio exists. */
  stage: Stage | undefined;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    /** What the pointer does now. */
    private readonly hand: () => Hand,
  ) {
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', (event) => this.up(event));
    canvas.addEventListener('contextmenu', (event) => this.menu(event));
  }

  private place(event: MouseEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2];
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || this.hold || this.hand().isBlocked?.(...this.place(event))) return;
    const touched = this.stage?.touch(...this.place(event));
    if (!touched) return;
    event.stopImmediatePropagation();
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.classList.add('held');
    this.canvas.focus({ preventScroll: true });
    const pin = (): void => {
      this.end();
      this.hand().pin(touched.body, list(touched.point));
    };
    const timer = event.pointerType === 'touch' ? window.setTimeout(pin, LONG_PRESS) : 0;
    this.hold = { pointer: event.pointerId, point: touched.point.clone(), startX: event.clientX, startY: event.clientY, timer };
    this.hand().press(touched.body, list(touched.point));
  }

  private move(event: PointerEvent): void {
    if (!this.hold) {
      if (event.pointerType === 'mouse' && event.buttons === 0) {
        const touched = this.stage?.touch(...this.place(event));
        this.canvas.classList.toggle('over', touched !== undefined);
        this.hand().hover?.(touched?.body, touched && list(touched.point));
      }
      return;
    }
    if (event.pointerId !== this.hold.pointer) return;
    event.stopImmediatePropagation();
    if (Math.hypot(event.clientX - this.hold.startX, event.clientY - this.hold.startY) > SLIP) {
      window.clearTimeout(this.hold.timer);
    }
    const place = this.place(event);
    const to = this.stage?.across(...place, this.hold.point);
    if (to) this.hand().drag(list(to), ...place);
  }

  private up(event: PointerEvent): void {
    if (!this.hold || event.pointerId !== this.hold.pointer) return;
    event.stopImmediatePropagation();
    this.end();
  }

  private end(): void {
    if (!this.hold) return;
    window.clearTimeout(this.hold.timer);
    this.hold = undefined;
    this.canvas.classList.remove('held');
    this.hand().release();
  }

  private menu(event: MouseEvent): void {
    event.preventDefault();
    // A finger's long press has been handled above.
    if ((event as PointerEvent).pointerType === 'touch') return;
    const touched = this.stage?.touch(...this.place(event));
    if (touched) this.hand().pin(touched.body, list(touched.point));
  }
}
