/**
 * `<toast-stack>`: what happened at the last request, over the page, so that nothing below it moves. A success leaves after
 * eight seconds, but not under the pointer or the focus. A problem stays until it is dismissed.
 */
const SHOWN_MS = 8_000;

const isUsed = (toast: Element): boolean => toast.matches(':hover') || toast.contains(document.activeElement);

export class ToastStack extends HTMLElement {
  connectedCallback(): void {
    for (const toast of this.querySelectorAll<HTMLElement>('.notice')) this.#watch(toast);
  }

  /** Shows a sentence in place of the one before. @param more what follows it @returns its element */
  say(text: string, tone: string, ...more: Node[]): HTMLElement {
    const toast = document.createElement('p');
    toast.className = `notice ${tone}`;
    toast.append(text, ...more.flatMap((each) => [' ', each]));
    this.replaceChildren(toast);
    this.#watch(toast);
    return toast;
  }

  /**
   * Reads why a request failed from the page that answers it. If the session has ended, a link follows, which opens the
   * sign-in in a tab, so that what was typed stays.
   */
  explain(status: number, answer: string): [reason: string, ...more: Node[]] {
    const page = new DOMParser().parseFromString(answer, 'text/html');
    const reason = page.querySelector('main h1 + p')?.textContent;
    const link = page.querySelector<HTMLAnchorElement>('main a.button[href^="/sign-in"]');
    const signIn = { target: '_blank', className: '', textContent: 'Sign in in another tab' };
    return [
      reason ?? `The console answered with the status ${status}.`,
      ...(link === null ? [] : [Object.assign(link, signIn)]),
    ];
  }

  #watch(toast: HTMLElement): void {
    const dismiss = document.createElement('button');
    dismiss.type = 'button';
    dismiss.className = 'dismiss';
    dismiss.ariaLabel = 'Dismiss';
    dismiss.textContent = '×';
    dismiss.addEventListener('click', () => toast.remove());
    toast.append(dismiss);
    if (!toast.classList.contains('bad')) sessionStorage.removeItem('draft');
    if (!toast.classList.contains('good')) return;
    const leave = (): void => {
      if (!isUsed(toast)) toast.remove();
      else setTimeout(leave, SHOWN_MS);
    };
    setTimeout(leave, SHOWN_MS);
  }
}

customElements.define('toast-stack', ToastStack);
