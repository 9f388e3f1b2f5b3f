/**
 * The text of a form that was refused, or whose session had ended, is in the form again when its page is shown again.
 * The tab keeps the texts of the last form that was sent, until one succeeds (toast-stack.ts).
 */
export {};

const KEY = 'draft';
/** Hidden fields that tell apart forms with one address. */
const SUBJECTS = ['code', 'id'];

/** Texts for other people. The KYC desk has none: nothing of it is kept in a browser. */
const findTexts = () => [...document.querySelectorAll<HTMLTextAreaElement>('form[method="post"] textarea')];

/** Tells a text from those of other forms and other people. */
const nameOf = ({ form, name, labels }: HTMLTextAreaElement): string => {
  const hidden = form?.querySelectorAll<HTMLInputElement>('input[type="hidden"]') ?? [];
  const subject = [...hidden].flatMap((each) => (SUBJECTS.includes(each.name) ? each.value : []));
  const who = document.querySelector('.who a, .who strong')?.textContent;
  return JSON.stringify([who, form?.getAttribute('action'), ...subject, labels[0]?.textContent, name]);
};

document.addEventListener('submit', ({ target }) => {
  // A sign-in comes between a form and its draft.
  if (document.querySelector('toast-stack') === null) return;
  if ((target as HTMLFormElement).method !== 'post') return;
  const typed = findTexts().filter(
    ({ form, value, defaultValue, dataset }) =>
      form === target && value !== defaultValue && value !== dataset.brought,
  );
  sessionStorage.setItem(KEY, JSON.stringify(typed.map((text) => [nameOf(text), text.value])));
});

/** Runs after a page was loaded, and after htmx replaced it. */
const restore = (): void => {
  const draft = new Map<string, string>(JSON.parse(sessionStorage.getItem(KEY) ?? '[]'));
  if (draft.size === 0) return;
  for (const text of findTexts())
    if (text.value === text.defaultValue) text.value = draft.get(nameOf(text)) ?? text.value;
};
restore();
addEventListener('htmx:after:swap', ({ target }) => {
  if (target === document.body) restore();
});
