// SPDX-License-Identifier: MIT
// Arrows, rings and boxes to move, turn and scale a handle with. Loaded when first used.
import * as three from 'three';
import { TransformControls } from 'three/examples/jsm/controls/TransformControls.js';
import type { Handle, Motion } from './protocol';
import type { Studio } from './studio';

export type GizmoMode = 'translate' | 'rotate' | 'scale';

export class Gizmo {
  private readonly object = new three.Object3D();
  private readonly controls: TransformControls;
  private handle: Handle | undefined;
  private start = new three.Vector3();

  constructor(
    private readonly studio: Studio,
    canvas: HTMLCanvasElement,
    move: (id: number, motion: Motion) => void,
    done: () => void,
  ) {
    this.controls = new TransformControls(studio.camera, canvas);
    this.controls.setSize(0.8);
    this.controls.addEventListener('dragging-changed', (event) => {
      studio.controls.enabled = !event.value;
      if (!event.value) done();
    });
    this.controls.addEventListener('change', () => studio.invalidate());
    this.controls.addEventListener('objectChange', () => {
      if (this.handle) move(this.handle.id, this.motion(this.handle.motion));
    });
    studio.scene.add(this.object, this.controls.getHelper());
  }

  /** Relative to the motion that the handle had when the gizmo came to it. */
  private motion(from: Motion): Motion {
    const { position, quaternion, scale } = this.object;
    const turn = quaternion.clone().multiply(new three.Quaternion(...from.turn));
    const away = position.clone().sub(this.start);
    return {
      offset: [from.offset[0] + away.x, from.offset[1] + away.y, from.offset[2] + away.z],
      turn: [turn.x, turn.y, turn.z, turn.w],
      scale: Math.min(Math.max(from.scale * Math.cbrt(Math.abs(scale.x * scale.y * scale.z)), 0.05), 20),
    };
  }

  get mode(): GizmoMode {
    return this.controls.getMode() as GizmoMode;
  }
  set mode(mode: GizmoMode) {
    this.controls.setMode(mode);
  }

  attach(handle: Handle): void {
    this.handle = handle;
    this.start.fromArray(handle.at);
    this.object.position.copy(this.start);
    this.object.quaternion.identity();
    this.object.scale.setScalar(1);
    this.controls.attach(this.object);
    this.studio.invalidate();
  }

  detach(): void {
    this.handle = undefined;
    this.controls.detach();
    this.studio.invalidate();
  }

  /** True if the pointer is on one of its parts. */
  isAt(x: number, y: number): boolean {
    if (!this.handle) return false;
    this.controls.pointerHover({ x, y, button: -1 } as never);
    return this.controls.axis !== null;
  }

  dispose(): void {
    this.detach();
    this.studio.scene.remove(this.object, this.controls.getHelper());
    this.controls.dispose();
  }
}
