// SPDX-License-Identifier: MIT
// Where frames come from: a worker that simulates in the browser, or the program (`yawara view`).
import type { Command, Message } from './protocol';

export interface Source {
  send(command: Command, transfer: Transferable[]): void;
  /** Called with everything that the source says. */
  listen(hear: (message: Message) => void): void;
}

/** The core in a worker of the page. */
export class WorkerSource implements Source {
  private readonly worker = new Worker('worker.js');

  send(command: Command, transfer: Transferable[]): void {
    this.worker.postMessage(command, transfer);
  }

  listen(hear: (message: Message) => void): void {
    this.worker.onmessage = (event: MessageEvent<Message>) => hear(event.data);
    this.worker.onerror = (event) => hear({ say: 'crashed', message: event.message });
  }
}
