/**
 * `<toast-stack>`: what happened at the last request, over the page, so that nothing below it moves. A success leaves after
 * eight seconds, but not under the pointer or the focus. A problem stays until it is dismissed.
 */
export {};

const SHOWN_MS = 8_000;

const isUsed = (toast: Element): boolean => toast.matches(':hover') || toast.contains(document.activeElement);

class ToastStack extends HTMLElement {
  connectedCallback(): void {
    for (const toast of this.querySelectorAll<HTMLElement>('.notice')) this.#watch(toast);
  }

  /** Shows a sentence in place of the one before. @param id by which a later request removes it */
  show(toast: HTMLElement): void {
    this.replaceChildren(toast);
    this.#watch(toast);
  }

  #watch(toast: HTMLElement): void {
    const dismiss = document.createElement('button');
    dismiss.type = 'button';
    dismiss.className = 'dismiss';
    dismiss.ariaLabel = 'Dismiss';
    dismiss.textContent = '×';
    dismiss.addEventListener('click', () => toast.remove());
    toast.append(dismiss);
    if (!toast.classList.contains('good')) return;
    const leave = (): void => {
      if (!isUsed(toast)) toast.remove();
      else setTimeout(leave, SHOWN_MS);
    };
    setTimeout(leave, SHOWN_MS);
  }
}

customElements.define('toast-stack', ToastStack);
