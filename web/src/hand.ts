// SPDX-License-Identifier: MIT
// What a pointer does to bodies: grab them, shape a pose, paint.
import type { Vec3 } from './protocol';

export interface Hand {
  press(body: number, at: Vec3): void;
  /** to: in the plane that faces the eye. x and y: place in the view, -1 to 1. */
  drag(to: Vec3, x: number, y: number): void;
  release(): void;
  pin(body: number, at: Vec3): void;
  /** The pointer is over a body, or over none. */
  hover?(body: number | undefined, at: Vec3 | undefined): void;
  /** True if something in front of the bodies is to get the pointer. */
  isBlocked?(x: number, y: number): boolean;
}
