/**
 * `<application-box>`: a box for an application's id that offers the applications whose id or name has what is typed.
 * Choosing one sends the form. Without this script it is a box.
 */
export {};

const PAUSE_MS = 150;

class ApplicationBox extends HTMLElement {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The text of the last request. The response to an earlier request is ignored. */
  #requested = '';

  connectedCallback(): void {
    const input = this.querySelector('input');
    const list = this.querySelector('datalist');
    if (input === null || list === null) return;
    const isOffered = (): boolean => [...list.options].some(({ value }) => value === input.value);
    input.addEventListener('focus', () => void this.#offer(input.value, list), { once: true });
    input.addEventListener('input', (event) => {
      clearTimeout(this.#timer);
      // Choosing from the list is not typing.
      const isChosen = !(event instanceof InputEvent) || event.inputType === 'insertReplacementText';
      if (isChosen && isOffered()) input.form?.requestSubmit();
      else this.#timer = setTimeout(() => void this.#offer(input.value, list), PAUSE_MS);
    });
  }

  async #offer(typed: string, list: HTMLDataListElement): Promise<void> {
    this.#requested = typed;
    const answer = await fetch(`/application-names?q=${encodeURIComponent(typed)}`, {
      headers: { 'hx-request': 'true' },
    }).catch(() => undefined);
    if (answer?.ok !== true) return;
    const found = (await answer.json()) as { application_id: string; name: string }[];
    if (this.#requested !== typed) return;
    list.replaceChildren(...found.map(({ application_id, name }) => new Option(name, application_id)));
  }
}

customElements.define('application-box', ApplicationBox);
