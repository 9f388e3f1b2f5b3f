/**
 * `<shortcut-scope>`: the keyboard of a page. With the attribute `off` no single character does anything (WCAG 2.1.4).
 *
 * `data-key="p"` on a button or link: the key presses it. `data-item`: rows and cards that `j` and `k` move between; the
 * focus goes to the first link of each. `x` toggles its checkbox. Digits choose a reason while the form of a rejection is
 * open, and open a picture otherwise. `data-sends`: Ctrl+Enter presses it from within its `<details>`; while that is open,
 * no key decides or leads on.
 */
import type { ToastStack } from '#src/site/browser/elements/toast-stack.ts';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    ['SELECT', 'TEXTAREA'].includes(target.tagName) ||
    (target instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'submit'].includes(target.type)));

const items = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-item]')];

/** Moves the focus to the next or previous item. */
const move = (step: 1 | -1): void => {
  const all = items();
  const current = all.findIndex((item) => item.contains(document.activeElement));
  const outermost = step === 1 ? 0 : all.length - 1;
  const next = all[current === -1 ? outermost : current + step];
  if (next === undefined) return;
  const target =
    next.querySelector<HTMLElement>('a[href]') ?? next.querySelector<HTMLElement>('button, input') ?? next;
  target.focus();
  next.scrollIntoView({ block: 'nearest' });
};

const click = (selector: string): boolean => {
  const target = document.querySelector<HTMLElement>(selector);
  target?.click();
  return target !== null;
};

/** The words are beside the button too, and soon no longer true. */
const EXPLAINED_MS = 8_000;

/** Says why a button is disabled, in the words that describe it. */
const explain = (button: Element | null): boolean => {
  const why = document.getElementById(button?.getAttribute('aria-describedby') ?? '')?.textContent;
  if (!why) return false;
  const notice = document.querySelector<ToastStack>('toast-stack')?.say(why, 'info');
  setTimeout(() => notice?.remove(), EXPLAINED_MS);
  return true;
};

const pressKey = (key: string): boolean => {
  const button = `[data-key="${CSS.escape(key)}"]`;
  return click(`${button}:not([disabled])`) || explain(document.querySelector(`${button}[disabled]`));
};

/** An open form of a rejection, an appeal, a note or a message. */
const openPanel = (): Element | null => document.querySelector('details[open]:has([data-sends])');

const toggleItem = (): boolean => {
  const item = items().find((each) => each.contains(document.activeElement));
  item?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click();
  return true;
};

/** Presses the key of a digit, whose meaning depends on whether the form of a rejection is open. */
const pressDigit = (digit: string): boolean => {
  const reason = document.querySelector<HTMLInputElement>(`details[open] [data-digit="${digit}"]`);
  if (reason === null) return click(`[data-picture="${digit}"]`);
  reason.click();
  reason.form?.querySelector<HTMLElement>('textarea[name="text"]')?.focus();
  return true;
};

/** The space bar presses what has the focus; on the page itself it opens the first picture. */
const pressSpace = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('a, button, summary, input, [tabindex="0"]')
    ? false
    : click('[data-picture="1"]');

const press = ({ key, target }: KeyboardEvent): boolean => {
  if (key === '?') {
    document.querySelector<HTMLDialogElement>('#shortcuts')?.showModal();
    return true;
  }
  if (key === '/') {
    document.querySelector<HTMLElement>('input[type="search"]')?.focus();
    return true;
  }
  if (key === 'x') return toggleItem();
  if (key === ' ') return pressSpace(target);
  if (/^[1-9]$/.test(key) && pressDigit(key)) return true;
  // Nothing else is decided, and no page left, while a text is being written.
  if (openPanel() !== null && key !== 'r') return false;
  if (pressKey(key)) return true;
  if (key !== 'j' && key !== 'k') return false;
  move(key === 'j' ? 1 : -1);
  return true;
};

/** Sends the form in which the focus is. */
const sendForm = (target: EventTarget | null): boolean => {
  const form = target instanceof Element ? target.closest('details')?.querySelector('[data-sends]') : null;
  if (!(form instanceof HTMLButtonElement)) return false;
  form.click();
  return true;
};

let isFirst = true;

customElements.define(
  'shortcut-scope',
  class extends HTMLElement {
    #listening: AbortController | undefined;

    /** In a page that took the place of another, a key counts once it was painted, because it may be meant for the one before. */
    connectedCallback(): void {
      if (this.hasAttribute('off'))
        for (const each of document.querySelectorAll('[aria-keyshortcuts]'))
          each.removeAttribute('aria-keyshortcuts');
      const listening = new AbortController();
      this.#listening = listening;
      const listen = (): void => {
        document.addEventListener('keydown', (event) => this.#onKey(event), { signal: listening.signal });
        this.setAttribute('ready', '');
      };
      if (isFirst) listen();
      else requestAnimationFrame(() => requestAnimationFrame(listen));
      isFirst = false;
    }

    disconnectedCallback(): void {
      this.#listening?.abort();
    }

    #onKey(event: KeyboardEvent): void {
      const { key, target } = event;
      if (key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        if (sendForm(target)) event.preventDefault();
        return;
      }
      // A key that is held down would decide on games that were not on the screen.
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
      if (key === 'Escape') {
        if (isTyping(target)) (target as HTMLElement).blur();
        else openPanel()?.removeAttribute('open');
        return;
      }
      if (this.hasAttribute('off') || isTyping(target)) return;
      if (document.querySelector('dialog[open]') === null && press(event)) event.preventDefault();
    }
  },
);
