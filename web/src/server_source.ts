// SPDX-License-Identifier: MIT
// The program as a source of frames. It simulates (--live), or has a run on disk.
import type { Command, Message } from './protocol';
import type { Source } from './source';
import { readBinary, withLoad } from './wire';

const GONE = 'The connection to yawara view has ended. Start it again and open the address that it prints.';

/** What the page's own core does, with files of the page. */
const OWN = new Set<Command['do']>(['start', 'cache', 'keep', 'seek', 'files', 'model']);

/** What the program simulates: commands and messages as with the worker. */
export class ServerSource implements Source {
  protected hear: (message: Message) => void = () => undefined;
  private readonly socket = new WebSocket(new URL('socket', location.href.replace(/^http/, 'ws')), 'yawara');
  private waiting: (string | ArrayBuffer)[] = [];
  /** The scene as the program has it. */
  private text = '';

  constructor() {
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      this.receive(typeof event.data === 'string' ? (JSON.parse(event.data) as Message) : readBinary(event.data));
    };
    this.socket.onopen = () => {
      for (const message of this.waiting.splice(0)) this.socket.send(message);
    };
    this.socket.onclose = (event) => this.hear({ say: 'crashed', message: event.reason || GONE });
  }

  listen(hear: (message: Message) => void): void {
    this.hear = hear;
  }

  send(command: Command, _transfer: Transferable[]): void {
    // The program has its own core, files and buffers.
    if (OWN.has(command.do)) return;
    if (command.do === 'open') this.open(command);
    else if (command.do === 'drawn') this.tell({ do: 'drawn' });
    else if (command.do === 'pose-load') this.tell({ do: 'pose-load' }, new Uint8Array(command.words.buffer, command.words.byteOffset, command.words.byteLength));
    else if (command.do === 'paint-begin') this.tell({ do: 'paint-begin', body: command.body, whole: command.whole }, command.bytes);
    else this.tell(command);
  }

  private open({ text, changes, until }: Extract<Command, { do: 'open' }>): void {
    const isSame = text === '' || text === this.text;
    this.tell({ do: 'open', changes, until }, isSame ? undefined : new TextEncoder().encode(text));
  }

  protected receive(message: Message): void {
    if (message.say === 'opened' && message.own) this.text = message.own.text;
    this.hear(message);
  }

  protected tell(command: object, load?: Uint8Array): void {
    const message = load ? withLoad(command, load) : JSON.stringify(command);
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(message);
    else if (this.socket.readyState === WebSocket.CONNECTING) this.waiting.push(message);
  }
}

// The most that is caught up after a pause of the browser, s.
const MAX_LAG = 0.1;
const REDUCED = matchMedia('(prefers-reduced-motion: reduce)');

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
    if (message.say === 'opened') this.play(!REDUCED.matches);
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
