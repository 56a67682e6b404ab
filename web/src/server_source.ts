// SPDX-License-Identifier: MIT
// The program as a source of frames. It simulates (--live), or has a run on disk.
import type { Command, Message } from './protocol';
import type { Source } from './source';
import { readBinary } from './wire';

const GONE = 'The connection to yawara view has ended. Start it again and open the address that it prints.';

/** Commands that the program obeys. */
const SHARED = new Set<Command['do']>(['open', 'play', 'step', 'restart', 'speed', 'grab', 'drag', 'release', 'pin', 'field', 'inside', 'examples', 'set', 'settings', 'drawn']);

/** What the program simulates: commands and messages as with the worker. */
export class ServerSource implements Source {
  protected hear: (message: Message) => void = () => undefined;
  private readonly socket = new WebSocket(new URL('socket', location.href.replace(/^http/, 'ws')), 'yawara');
  private waiting: string[] = [];

  constructor() {
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      this.receive(typeof event.data === 'string' ? (JSON.parse(event.data) as Message) : readBinary(event.data));
    };
    this.socket.onopen = () => {
      for (const text of this.waiting.splice(0)) this.socket.send(text);
    };
    this.socket.onclose = (event) => this.hear({ say: 'crashed', message: event.reason || GONE });
  }

  listen(hear: (message: Message) => void): void {
    this.hear = hear;
  }

  send(command: Command, _transfer: Transferable[]): void {
    // The program has its own core, files and buffers.
    if (!SHARED.has(command.do)) return;
    if (command.do === 'open') this.tell({ do: 'open', changes: command.changes, until: command.until });
    else if (command.do === 'drawn') this.tell({ do: 'drawn' });
    else this.tell(command);
  }

  protected receive(message: Message): void {
    this.hear(message);
  }

  protected tell(command: object): void {
    const text = JSON.stringify(command);
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
    else if (this.socket.readyState === WebSocket.CONNECTING) this.waiting.push(text);
  }
}

// The most that is caught up after a pause of the browser, s.
const MAX_LAG = 0.1;

/** A run on disk: keeps time and asks for frames, one at a time, so that the newest wish counts. */
export class RunSource extends ServerSource {
  private fps = 60;
  private available = 0;
  private isGrowing = false;
  private place = 0;
  private isPlaying = true;
  private speed = 1;
  private lastTime = 0;
  private asked = -1;
  private shown = -1;
  private mustAsk = false;

  constructor() {
    super();
    const tick = (now: number): void => {
      requestAnimationFrame(tick);
      this.advance(now);
    };
    requestAnimationFrame(tick);
  }

  override send(command: Command, _transfer: Transferable[]): void {
    if (command.do === 'play') this.play(command.on);
    else if (command.do === 'step') this.seek(Math.floor(this.place) + 1);
    else if (command.do === 'restart') this.place = 0;
    else if (command.do === 'speed') this.speed = command.factor;
    else if (command.do === 'seek') this.seek(command.frame);
    else if (command.do === 'field' || command.do === 'inside') {
      this.tell(command);
      this.mustAsk = true;
    }
  }

  private play(on: boolean): void {
    // At the end of a run, playing begins again.
    if (on && Math.floor(this.place) >= this.available) this.place = 0;
    this.isPlaying = on;
    this.hear({ say: 'paused', on: !on });
  }

  private seek(frame: number): void {
    this.play(false);
    this.place = Math.min(Math.max(frame, 0), this.available);
  }

  protected override receive(message: Message): void {
    if (message.say === 'opened') {
      this.fps = message.scene.fps;
      this.place = 0;
      // The first frame comes unasked.
      this.asked = 0;
      this.shown = -1;
    }
    if (message.say === 'frames') {
      this.available = message.available;
      this.isGrowing = message.available < message.asked;
    }
    if (message.say === 'frame' || message.say === 'failed') {
      this.shown = this.asked;
      this.asked = -1;
    }
    this.hear(message);
    if (message.say === 'opened') this.play(true);
  }

  private advance(now: number): void {
    const passed = Math.min((now - this.lastTime) / 1000, MAX_LAG);
    this.lastTime = now;
    if (this.isPlaying && this.shown >= 0) {
      this.place = Math.min(this.place + passed * this.fps * this.speed, this.available);
      if (this.place >= this.available && this.shown >= this.available) this.atEnd();
    }
    const frame = Math.floor(this.place);
    if (this.asked >= 0 || (frame === this.shown && !this.mustAsk)) return;
    this.asked = frame;
    this.mustAsk = false;
    this.tell({ do: 'frame', number: frame });
  }

  /** While a run grows, playing waits for its next frame. */
  private atEnd(): void {
    if (this.isPlaying && !this.isGrowing) this.play(false);
  }
}
