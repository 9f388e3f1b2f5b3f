/**
 * `<picture-viewer>`: the pictures of a page, large, over it. A click on a picture opens it, and so does its digit. Arrows
 * move, `z` zooms, Escape and the space bar close. The bytes that a decision saw are beside the present ones. Without
 * scripts each picture is a link.
 */
export {};

/** Keys of the page, which close the viewer, and then act on the page. */
const PAGE_KEYS = ['p', 'r', 'j', 'k', 'u'];

const frames = (): HTMLAnchorElement[] => [...document.querySelectorAll<HTMLAnchorElement>('a.frame')];

const createFigure = (frame: HTMLAnchorElement): HTMLElement => {
  const figure = document.createElement('figure');
  const image = document.createElement('img');
  image.src = frame.href;
  image.alt = frame.querySelector('img')?.alt ?? '';
  const caption = document.createElement('figcaption');
  caption.textContent = frame.dataset.caption ?? image.alt;
  figure.append(image, caption);
  return figure;
};

customElements.define(
  'picture-viewer',
  class extends HTMLElement {
    #listening: AbortController | undefined;
    #at = 0;

    connectedCallback(): void {
      this.#listening = new AbortController();
      const { signal } = this.#listening;
      document.addEventListener('click', (event) => this.#onClick(event), { signal });
      this.#dialog.addEventListener('keydown', (event) => this.#onKey(event), { signal });
    }

    disconnectedCallback(): void {
      this.#listening?.abort();
    }

    get #dialog(): HTMLDialogElement {
      return this.querySelector('dialog') as HTMLDialogElement;
    }

    #onClick(event: MouseEvent): void {
      const target = event.target as Element;
      const frame = target.closest<HTMLAnchorElement>('a.frame');
      const step = target.closest<HTMLElement>('[data-step]')?.dataset.step;
      if (frame !== null && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        event.preventDefault();
        this.#open(frames().indexOf(frame));
      } else if (step !== undefined) this.#open(this.#at + Number(step));
      else if (target.closest('.stage img')) this.#zoom();
    }

    #onKey(event: KeyboardEvent): void {
      const { key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (PAGE_KEYS.includes(key) && !this.#isOff) {
        // The event goes on to the page.
        this.#dialog.close();
        return;
      }
      if (key === 'ArrowRight') this.#open(this.#at + 1);
      else if (key === 'ArrowLeft') this.#open(this.#at - 1);
      else if (this.#isOff) return;
      else if (key === 'z') this.#zoom();
      else if (key === ' ' && !(event.target as Element).matches('button')) this.#dialog.close();
      else if (/^[1-9]$/.test(key)) {
        const index = frames().findIndex((each) => each.dataset.picture === key);
        if (index !== -1) this.#open(index);
      } else return;
      event.preventDefault();
    }

    get #isOff(): boolean {
      return document.querySelector('shortcut-scope[off]') !== null;
    }

    #zoom(): void {
      this.#dialog.classList.toggle('zoomed');
    }

    /** Shows a picture; after the last one comes the first. */
    #open(index: number): void {
      const all = frames();
      if (all.length === 0 || index < -1) return;
      this.#at = (index + all.length) % all.length;
      const frame = all[this.#at] as HTMLAnchorElement;
      const pair = frame.closest('.pair');
      const sides = pair === null ? [frame] : all.filter((each) => pair.contains(each));
      const dialog = this.#dialog;
      dialog.classList.remove('zoomed');
      dialog.querySelector('.stage')?.replaceChildren(...sides.map(createFigure));
      if (!dialog.open) dialog.showModal();
    }
  },
);
