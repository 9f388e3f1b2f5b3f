/**
 * The next game of a lane is fetched ahead, and shown at once when its reviewer decides. The decision is sent in the
 * background; if it is refused, the page of its game comes back as it was left. A decision names the revision and the
 * pictures that its page showed, so none is made on what was not shown.
 */
import type { ToastStack } from '#src/site/browser/elements/toast-stack.ts';

/** What takes the place of the page. */
type Shown = { url: string; title: string; nodes: ChildNode[] };

/** A page that was fetched ahead. `images` keeps its pictures decoded; `version` is that of the console which sent it. */
type Ahead = Shown & { images: HTMLImageElement[]; version: string };
let ahead: Ahead | undefined;
/** Settles when the request for the next page has ended. Its pictures may come later. */
let fetching: Promise<unknown> = Promise.resolve();

/** Decisions that are being sent. */
const sending = new Set<Promise<unknown>>();

const nextLink = (): HTMLAnchorElement | null =>
  document.querySelector<HTMLAnchorElement>('main:has(#decision) a[href^="/review/next"]');

/** The addresses of the scripts and styles of a page. */
const versionOf = ({ head }: Document): string =>
  [...head.querySelectorAll('script[src], link[rel="stylesheet"]')].map((each) => each.outerHTML).join();

const PICTURES = 'a.frame img, .heading .picture img';

const fetchAhead = async (): Promise<void> => {
  ahead = undefined;
  const link = nextLink();
  if (link === null) return;
  const response = await fetch(link.href, { headers: { 'x-prefetch': '1' } });
  const url = new URL(response.headers.get('content-location') ?? '', response.url);
  if (!response.ok || !url.pathname.startsWith('/games/')) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const images = [...page.querySelectorAll<HTMLImageElement>(PICTURES)].map(({ src, srcset }) =>
    Object.assign(new Image(), { srcset, src }),
  );
  if (!link.isConnected) return;
  ahead = {
    url: url.href,
    title: page.title,
    nodes: [...page.body.childNodes],
    images,
    version: versionOf(page),
  };
  void Promise.allSettled(images.map((image) => image.decode())).then(() => {
    link.dataset.ahead = '';
  });
};

const begin = (): void => {
  fetching = fetchAhead().catch(() => {});
};

/** The details of an event of htmx about a response, which a listener may replace. */
type Request = {
  sourceElement: Element;
  request: RequestInit & { action: string; headers: Record<string, string> };
  fetch: (url: string, init: RequestInit) => Promise<Response>;
};

const htmx = (): { process: (element: Element, force: boolean) => void } => Object(globalThis).htmx;

/** Shows a page. htmx learns of its links once it was painted, as keys count then; a click before loads a whole page. */
const show = ({ nodes, title }: Shown): void => {
  document.body.replaceChildren(...nodes);
  document.title = title;
  dispatchEvent(new CustomEvent('game:shown'));
  begin();
  requestAnimationFrame(() => requestAnimationFrame(() => htmx().process(document.body, true)));
};

const showNext = (next: Ahead): void => {
  // htmx loads the pages of such entries when the reviewer goes back.
  history.replaceState({ htmx: true }, '');
  history.pushState({ htmx: true }, '', next.url);
  show(next);
  scrollTo(0, 0);
  document.querySelector<HTMLElement>('[autofocus]')?.focus();
};

const toasts = (): ToastStack | null => document.querySelector<ToastStack>('toast-stack');

const undoButton = (): HTMLButtonElement => {
  const button = document.createElement('button');
  button.className = 'button quiet';
  button.setAttribute('form', 'undo');
  button.textContent = 'Undo';
  return button;
};

const linkTo = (url: string): HTMLAnchorElement =>
  Object.assign(document.createElement('a'), { href: url, textContent: 'Open the game' });

/** The page of a decision, and the address of the one that took its place. */
type Former = Shown & { next: string };

/** Has the reviewer gone on from the page that took the place, or does the form of a rejection have words? */
const isBusy = ({ next }: Former): boolean =>
  location.href !== next || document.querySelector('details[open] [data-sends], dialog[open]') !== null;

const NO_ANSWER =
  'The console did not answer. It is not known if anything was stored: retry, or load this page again.';

/** Shows the former game again, or a notice about it while the reviewer is busy with another. */
const returnTo = (former: Former, reason: string, ...more: Node[]): void => {
  if (isBusy(former))
    toasts()?.say(`${former.title.split(' · ')[0]}: ${reason}`, 'bad', linkTo(former.url), ...more);
  else {
    history.replaceState({ htmx: true }, '', former.url);
    show(former);
    toasts()?.say(reason, 'bad', ...more);
  }
};

/** Reports what became of a decision. */
const reportAnswer = async (sent: Promise<Response>, former: Former): Promise<void> => {
  const response = await sent.catch(() => undefined);
  if (response === undefined) return returnTo(former, NO_ANSWER);
  if (!response.ok) {
    const [reason, ...more] = toasts()?.explain(response.status, await response.text()) ?? [''];
    return returnTo(former, reason, ...more);
  }
  const { url, text, tone }: { url: string; text: string; tone: string } = await response.json();
  if (tone === 'undo') toasts()?.say(text, 'good', undoButton());
  else if (tone !== 'bad') toasts()?.say(text, tone);
  else if (isBusy(former)) toasts()?.say(text, 'bad', linkTo(url));
  else location.replace(url);
};

/** A browser refuses to keep more than 64 KiB alive, all requests together, so such a decision ends with its page. */
const KEEPALIVE_MAX_BYTES = 60_000;

/** Bytes of the body of a form; of any other, more than can be kept alive. */
const sizeOf = (body: RequestInit['body']): number => {
  if (body instanceof URLSearchParams) return body.toString().length;
  return typeof body === 'string' ? body.length : Number.POSITIVE_INFINITY;
};

const decideInBackground = ({ request: sent }: Request, send: Request['fetch'], next: Ahead): void => {
  const { action, signal: _signal, ...request } = sent;
  // htmx keeps the body and replaces what is in it.
  const former = {
    nodes: [...document.body.childNodes],
    title: document.title,
    url: location.href,
    next: next.url,
  };
  const headers = new Headers(request.headers);
  headers.set('accept', 'application/json');
  const keepalive = sending.size === 0 && sizeOf(request.body) < KEEPALIVE_MAX_BYTES;
  const answer = send(action, { ...request, headers, keepalive });
  const reported = reportAnswer(answer, former).finally(() => sending.delete(reported));
  sending.add(reported);
};

addEventListener('htmx:before:request', (event) => {
  const { ctx: context } = (event as CustomEvent<{ ctx?: Request }>).detail;
  if (context?.sourceElement.hasAttribute('hx-boost') !== true) return;
  const { sourceElement: source, fetch: send } = context;
  const isDecision = source.closest('#decision') !== null;
  if (isDecision || (source instanceof HTMLAnchorElement && source.href === nextLink()?.href)) {
    context.fetch = async (...call) => {
      await fetching;
      const next = ahead;
      ahead = undefined;
      if (next?.version !== versionOf(document)) {
        await Promise.allSettled(sending);
        return send(...call);
      }
      if (isDecision) decideInBackground(context, send, next);
      showNext(next);
      throw new DOMException('Nothing is left for htmx to show.', 'AbortError');
    };
  } else if (sending.size > 0) {
    // An undo, or the game before, follows the decisions.
    context.fetch = async (...call) => {
      await Promise.allSettled(sending);
      return send(...call);
    };
  }
});

begin();
addEventListener('htmx:after:swap', ({ target }) => {
  if (target === document.body) begin();
});
