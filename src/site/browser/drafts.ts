/**
 * Restores what was typed or chosen in a form that was refused, or whose session had ended, when its page is shown again.
 * The tab keeps the fields of the last form that was sent, until a form succeeds (toast-stack.ts).
 */
export {};

const KEY = 'draft';
/** Hidden fields that tell apart forms with one address. */
const SUBJECTS = ['code', 'id', 'login', 'subject'];
/** All but selections of games, because the games may be others when the page is shown again. */
const FIELDS = [
  'textarea',
  'select',
  'input:not([type="hidden"], [type="password"], [name="game"], [data-select-all])',
];

type Field = HTMLTextAreaElement | HTMLSelectElement | HTMLInputElement;

/** Nothing that is typed at the KYC desk is kept in a browser. */
const findFields = (): Field[] =>
  document.querySelector('toast-stack[data-drafts]') === null
    ? []
    : [...document.querySelectorAll<Field>(FIELDS.map((each) => `form[method="post"] ${each}`).join())];

const isBox = (field: Field): field is HTMLInputElement => ['checkbox', 'radio'].includes(field.type);
const chosen = (field: Field): string => (isBox(field) ? String(field.checked) : field.value);
const byDefault = (field: Field): string => {
  if (isBox(field)) return String(field.defaultChecked);
  if (field instanceof HTMLSelectElement)
    return ([...field.options].find((each) => each.defaultSelected) ?? field.options[0])?.value ?? '';
  return field.defaultValue;
};

/** Tells a field from those of other forms and other people. */
const nameOf = (field: Field): string => {
  const { form, name, labels } = field;
  const hidden = form?.querySelectorAll<HTMLInputElement>('input[type="hidden"]') ?? [];
  const subject = [...hidden].flatMap((each) => (SUBJECTS.includes(each.name) ? each.value : []));
  const who = document.querySelector<HTMLElement>('[data-who]')?.dataset.who;
  const box = isBox(field) ? field.value : '';
  return JSON.stringify([who, form?.getAttribute('action'), ...subject, labels?.[0]?.textContent, name, box]);
};

document.addEventListener('submit', ({ target }) => {
  // A sign-in comes between a form and its draft.
  if (document.querySelector('toast-stack') === null) return;
  if ((target as HTMLFormElement).method !== 'post') return;
  const typed = findFields().filter(
    (field) =>
      field.form === target &&
      chosen(field) !== byDefault(field) &&
      (isBox(field) || field.value !== field.dataset.brought),
  );
  sessionStorage.setItem(KEY, JSON.stringify(typed.map((field) => [nameOf(field), chosen(field)])));
});

/** Runs after a page was loaded, and after htmx replaced it. */
const restore = (): void => {
  const draft = new Map<string, string>(JSON.parse(sessionStorage.getItem(KEY) ?? '[]'));
  if (draft.size === 0) return;
  for (const field of findFields()) {
    const value = chosen(field) === byDefault(field) ? draft.get(nameOf(field)) : undefined;
    if (value === undefined) continue;
    if (isBox(field)) field.checked = value === 'true';
    else field.value = value;
  }
};
// An answer that shows a link or a secret is a success too.
if (document.querySelector('[data-instead]') !== null) sessionStorage.removeItem(KEY);
restore();
addEventListener('htmx:after:swap', ({ target }) => {
  if (target === document.body) restore();
});
addEventListener('game:shown', restore);
