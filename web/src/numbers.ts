// SPDX-License-Identifier: MIT
// The live part of the panel: weights of examples, energies, timing and the methods' statistics.
import { Plot } from './plots';
import type { Report, Scene } from './protocol';
import { WeightBars } from './weights';

// Statistics that other parts of the panel show.
const HIDDEN = /weight|example/;

interface Source {
  plot: Plot;
  read(report: Report): number | null;
}

export class Numbers {
  readonly element = document.createElement('div');
  private sources: Source[] = [];
  private bars = new Map<number, WeightBars>();
  private body = 0;
  private lastFrame = -1;
  /** Of a run: its last frame. Its numbers have their place in it; those of a simulation pass by. */
  length: number | undefined;

  constructor(private readonly scene: () => Scene | undefined) {}

  /** Which body's numbers are shown; poses: names of the rest pose and its examples. */
  choose(body: number, poses: (count: number) => string[]): void {
    this.body = body;
    this.bars.clear();
    this.sources = [];
    this.element.replaceChildren();
    this.poses = poses;
  }
  private poses: (count: number) => string[] = () => [];

  private build(report: Report): void {
    const own = report.bodies[this.body];
    if (own?.weights && own.weights.length > 1) {
      const bars = new WeightBars('Preferred pose', this.poses(own.weights.length));
      this.bars.set(this.body, bars);
      this.element.append(bars.element);
    }
    const section = document.createElement('section');
    section.innerHTML = '<h2>Numbers</h2>';
    const add = (name: string, unit: string, read: Source['read']): void => {
      const plot = new Plot(name, unit);
      this.sources.push({ plot, read });
      section.append(plot.element);
    };
    add('step time', 's', (r) => r.seconds);
    add('kinetic', 'J', (r) => r.kinetic);
    if (report.elastic !== null) add('elastic', 'J', (r) => r.elastic);
    add('potential', 'J', (r) => r.gravitational);
    add('contacts', '', (r) => r.contacts);
    add('particles', '', (r) => r.particles);
    own?.statistics.forEach((statistic, i) => {
      if (HIDDEN.test(statistic.name)) return;
      add(statistic.name.replaceAll('_', ' '), statistic.unit, (r) => r.bodies[this.body]?.statistics[i]?.value ?? null);
    });
    this.element.append(section);
  }

  show(report: Report): void {
    if (!this.scene()) return;
    if (this.sources.length === 0) this.build(report);
    if (!this.length && report.frame < this.lastFrame) for (const { plot } of this.sources) plot.clear();
    this.lastFrame = report.frame;
    const weights = report.bodies[this.body]?.weights;
    if (weights) this.bars.get(this.body)?.show(weights);
    for (const { plot, read } of this.sources) {
      if (this.length) plot.put(report.frame / this.length, read(report));
      else plot.add(read(report));
    }
  }
}
