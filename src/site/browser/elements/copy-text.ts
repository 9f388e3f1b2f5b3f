/** `<copy-text>`: an id with a button that copies it. Without a clipboard, or without this script, it is a text. */
export {};

const SAID_MS = 1_500;

class CopyText extends HTMLElement {
  connectedCallback(): void {
    if (navigator.clipboard === undefined || this.querySelector('button') !== null) return;
    const text = this.textContent;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.ariaLabel = `Copy ${text}`;
    button.addEventListener('click', async () => {
      // A browser, or its user, may refuse.
      const isCopied = await navigator.clipboard.writeText(text).then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Not copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, SAID_MS);
    });
    this.append(button);
  }
}

customElements.define('copy-text', CopyText);
