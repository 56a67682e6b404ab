// SPDX-License-Identifier: MIT
// The list of scenes with their pictures, grouped by method.
export interface Entry {
  name: string;
  title: string;
  picture: boolean;
  description: string;
  /** What the scene reads, beside it. */
  files: string[];
  /** The first is the one it is listed under. */
  methods: string[];
}

const HEADINGS: Record<string, string> = {
  match: 'Examples (match)',
  frames: 'Stiff to soft (frames)',
  slender: 'Rods and sheets (slender)',
  fem: 'Elements (fem)',
  plastic: 'Clay and cream (plastic)',
  rigid: 'With rigid bodies',
};

export class Gallery {
  private readonly links = new Map<string, HTMLAnchorElement>();
  constructor(
    private readonly element: HTMLElement,
    readonly entries: Entry[],
    private readonly pick: (name: string) => void,
  ) {
    for (const [method, heading] of Object.entries(HEADINGS)) {
      const group = entries.filter((entry) => entry.methods[0] === method);
      if (group.length > 0) this.addGroup(heading, group);
    }
  }

  private addGroup(heading: string, entries: Entry[]): void {
    const title = document.createElement('h2');
    title.textContent = heading;
    const list = document.createElement('ul');
    for (const entry of entries) {
      const item = document.createElement('li');
      item.append(this.makeLink(entry));
      list.append(item);
    }
    this.element.append(title, list);
  }

  private makeLink(entry: Entry): HTMLAnchorElement {
    const link = document.createElement('a');
    link.href = `?scene=${entry.name}`;
    link.title = entry.description;
    const picture = document.createElement('img');
    if (entry.picture) picture.src = `thumbs/${entry.name}.webp`;
    picture.alt = '';
    picture.loading = 'lazy';
    picture.width = 240;
    picture.height = 160;
    link.append(picture, entry.title);
    link.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.pick(entry.name);
    });
    this.links.set(entry.name, link);
    return link;
  }

  mark(name: string): void {
    for (const [own, link] of this.links) {
      if (own === name) {
        link.setAttribute('aria-current', 'page');
        link.scrollIntoView({ block: 'nearest' });
      } else link.removeAttribute('aria-current');
    }
  }

  /** The scene `steps` after this one, around the end. */
  next(name: string, steps: number): string {
    const names = [...this.links.keys()];
    const at = Math.max(names.indexOf(name), 0);
    return names[(at + steps + names.length) % names.length] ?? name;
  }
}
