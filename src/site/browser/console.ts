/**
 * Selections, forms, and what htmx leaves to a page. Every page works without this file. The server strips the types when
 * it starts.
 */
import type { ToastStack } from '#src/site/browser/elements/toast-stack.ts';

/** `data-opens="id"`: shows and hides that element, and moves the focus into it. */
document.addEventListener('click', (event) => {
  const opener = (event.target as Element | null)?.closest<HTMLElement>('[data-opens]');
  if (!opener) return;
  const target = document.getElementById(opener.dataset.opens ?? '');
  // A person's click on what is open closes it; its key moves the focus into it again.
  if (!(target instanceof HTMLDetailsElement) || (target.open && event.isTrusted)) return;
  target.open = true;
  target.querySelector<HTMLElement>('select, textarea, input:not([type="hidden"])')?.focus();
  event.preventDefault();
});

/** A reason brings its text, unless something else was typed. */
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.text === undefined) return;
  const text = target.form?.querySelector<HTMLTextAreaElement>('textarea[name="text"]');
  if (!text || (text.value !== '' && text.value !== text.dataset.brought)) return;
  text.value = target.dataset.text;
  text.dataset.brought = text.value;
});

/** A required text of spaces alone is empty, so that the browser says it at the field. */
document.addEventListener('change', ({ target }) => {
  if (target instanceof HTMLTextAreaElement && target.required && target.value.trim() === '')
    target.value = '';
});

const gameBoxes = (form: HTMLFormElement): HTMLInputElement[] => [
  ...form.querySelectorAll<HTMLInputElement>('input[type="checkbox"][name="game"]'),
];

// A selection that is empty is not sent, because what was typed beside it would be lost.
document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  const output = form.querySelector('[data-selected]');
  const button = event.submitter as HTMLButtonElement | null;
  if (output === null || button?.value === 'all' || gameBoxes(form).some((box) => box.checked)) return;
  output.textContent = 'Select at least one game.';
  output.classList.add('bad');
  event.preventDefault();
});

/** A form is sent once. The button is enabled again if the browser goes back to this page. */
document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  // htmx sends a form that it prevented, one at a time.
  if (form.method !== 'post' || event.defaultPrevented) return;
  if (form.dataset.sent !== undefined) event.preventDefault();
  form.dataset.sent = '';
});
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});

/** The second click of a double click sends no form: the first one has brought another game, which the reviewer has not seen. */
document.addEventListener('click', (event) => {
  const button = (event.target as Element | null)?.closest('button');
  if (event.detail > 1 && button?.type === 'submit') event.preventDefault();
});

/** The details of an event of htmx about a request. */
type HtmxRequest = {
  sourceElement?: Element;
  /** Absent if the response did not arrive whole. */
  text?: string;
  response?: { status: number; raw: Response };
};
const requestOf = (event: Event): HtmxRequest | undefined =>
  (event as CustomEvent<{ ctx?: HtmxRequest }>).detail.ctx;

const NOT_REFRESHED = 'not-refreshed';

const toasts = (): ToastStack | null => document.querySelector<ToastStack>('toast-stack');

/** Does htmx follow this link or form, or fetch a part of the page by itself? */
const isInPlace = ({ sourceElement }: HtmxRequest): boolean =>
  sourceElement?.hasAttribute('hx-boost') === true;

/**
 * Keeps the page as it is, with what was typed, and says why. A part that could not be refreshed is reported only if no
 * other problem is shown.
 * @param reason a sentence, or a few
 */
const keepPage = (request: HtmxRequest, reason: string, ...more: Node[]): void => {
  if (isInPlace(request)) toasts()?.say(reason, 'bad', ...more);
  else if (!toasts()?.querySelector(`.bad:not(#${NOT_REFRESHED})`)) {
    const text = `What this page shows is no longer refreshed. ${reason}`;
    toasts()
      ?.say(text, 'bad', ...more)
      .setAttribute('id', NOT_REFRESHED);
  }
};

/** Does a page have the scripts and styles of this one? Not if the console was replaced by another version. */
const isSameVersion = (text: string): boolean =>
  [...document.head.querySelectorAll('script[src], link[rel="stylesheet"]')].every((file) =>
    text.includes(`"${file.getAttribute('src') ?? file.getAttribute('href')}"`),
  );

// htmx would put an error in the place of what it requested.
addEventListener('htmx:after:request', (event) => {
  const request = requestOf(event);
  if (request?.response === undefined || request.text === undefined) return;
  const { status, raw } = request.response;
  if (status >= 400) {
    event.preventDefault();
    const [reason, ...more] = toasts()?.explain(status, request.text) ?? [''];
    keepPage(request, reason, ...more);
  } else if (!isInPlace(request)) {
    document.getElementById(NOT_REFRESHED)?.remove();
  } else if (!isSameVersion(request.text)) {
    event.preventDefault();
    location.assign(raw.url);
  }
});

// The browser has no page of its own for a request that htmx makes.
addEventListener('htmx:error', (event) => {
  const request = requestOf(event);
  if (request === undefined || request.text !== undefined) return;
  const doubt = isInPlace(request)
    ? ' It is not known if anything was stored: retry, or load this page again.'
    : '';
  keepPage(request, `The console did not answer.${doubt}`);
});

/** Shows how many boxes of a form are checked: in its counts and buttons, and in the box `data-select-all`, which checks all of them. */
const countSelected = (form: HTMLFormElement): void => {
  const boxes = gameBoxes(form);
  const selected = boxes.filter((box) => box.checked).length;
  for (const output of form.querySelectorAll('[data-selected]')) {
    output.textContent = `${selected} selected`;
    output.classList.remove('bad');
  }
  for (const games of form.querySelectorAll('[data-games]'))
    games.textContent = selected === 0 ? '' : ` ${selected} ${selected === 1 ? 'game' : 'games'}`;
  for (const all of form.querySelectorAll<HTMLInputElement>('[data-select-all]')) {
    all.checked = selected > 0 && selected === boxes.length;
    all.indeterminate = selected > 0 && selected < boxes.length;
  }
};
document.addEventListener('change', (event) => {
  const box = event.target as HTMLInputElement;
  const form = box.form;
  if (form === null || box.type !== 'checkbox') return;
  if (box.dataset.selectAll !== undefined) {
    for (const each of gameBoxes(form)) each.checked = box.checked;
  }
  countSelected(form);
});

/** `data-instead="address"`: the way back to this answer to a form leads there, because a browser would send the form again. */
const answer = document.querySelector<HTMLElement>('[data-instead]');
if (answer) history.replaceState(history.state, '', answer.dataset.instead);

// A record in clear does not stay in a page that was left.
addEventListener('pagehide', () => {
  for (const each of document.querySelectorAll('[data-revealed]')) each.remove();
});

// A narrow window shows a part of the navigation: the part with this page.
const showHere = (): void => {
  const navigation = document.querySelector<HTMLElement>('.side nav');
  const here = navigation?.querySelector<HTMLElement>('[aria-current]');
  if (!navigation || !here) return;
  navigation.scrollLeft =
    here.offsetLeft - navigation.offsetLeft - (navigation.clientWidth - here.offsetWidth) / 2;
};
addEventListener('resize', showHere);

/** Runs after a page was loaded, and after htmx replaced it. */
const showPage = (): void => {
  showHere();
  for (const form of document.forms) countSelected(form);
};
showPage();
addEventListener('htmx:after:swap', ({ target }) => {
  if (target === document.body) showPage();
});
addEventListener('game:shown', showPage);

/** Is something typed in a form that is sent? */
const isTyped = (): boolean =>
  [...document.querySelectorAll<HTMLTextAreaElement>('form[method="post"] textarea')].some(
    ({ value, defaultValue }) => value !== defaultValue,
  );
// A page does not reload itself while something is typed in it.
addEventListener('htmx:before:request', (event) => {
  if (isTyped() && requestOf(event)?.sourceElement?.matches('[data-reloads]')) event.preventDefault();
});

// The lease of a game that is not on the screen ends.
addEventListener('htmx:before:request', (event) => {
  if (document.hidden && requestOf(event)?.sourceElement?.matches('.viewers')) event.preventDefault();
});
