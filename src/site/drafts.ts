/**
 * What was typed into a form that was refused is in it again on the next page, without script too. A cookie has it for a
 * minute; what is longer is kept by the tab (browser/drafts.ts).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { clearCookie, readCookie, setCookie } from '#src/site/cookies.ts';
import { html } from '#src/site/html.ts';

const DRAFT = 'catalogue_draft';
const KEPT_S = 60;
/** With the session and the notice, a proxy passes them in one header of 8 KiB. */
const MAX_BYTES = 3_000;

/** Secrets, and what no person types. */
const NEVER_KEPT = /^shown_|token|password|current|link|seen|cursor/;
/** Hidden fields that tell apart forms with one address. */
const SUBJECTS = ['code', 'had', 'id', 'login', 'subject'];

/** The values of each field. */
type Fields = ReadonlyMap<string, readonly string[]>;

/** Keeps what was typed into a form. A field that has what it showed (`shown_…`) is left out, because others may change it. */
export const keepDraft = (reply: FastifyReply): void => {
  const { method, body, url } = reply.request;
  if (method !== 'POST' || typeof body !== 'object' || body === null) return;
  const given = new Map<string, string | string[]>(Object.entries(body));
  const typed = [...given].filter(
    ([name, value]) => !NEVER_KEPT.test(name) && given.get(`shown_${name}`) !== value,
  );
  const fields = typed.map(([name, value]) => [name, [value].flat()]);
  const draft = JSON.stringify([url.split('?')[0], fields]);
  if (encodeURIComponent(draft).length > MAX_BYTES) return;
  setCookie(reply, DRAFT, draft, { sameSite: 'strict', maxAge: KEPT_S });
};

const draft = z.tuple([z.string(), z.array(z.tuple([z.string(), z.array(z.string())]))]);

const readDraft = (request: FastifyRequest): z.infer<typeof draft> | undefined => {
  try {
    return draft.parse(JSON.parse(readCookie(request, DRAFT) ?? ''));
  } catch {
    return undefined;
  }
};

const escaped = (text: string): string => String(html`${text}`);

const attributeOf = (tag: string, name: string): string =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '';

const has = (values: readonly string[] | undefined, wanted: string): boolean =>
  values?.some((value) => escaped(value) === wanted) === true;

/**
 * Is this the form that was sent? A private note is not filled into the form of a message. The attributes and texts of our
 * pages are escaped, so that no value ends a tag.
 */
const isSent = (form: string, path: string, fields: Fields): boolean => {
  if (attributeOf(form, 'action') !== escaped(path)) return false;
  const acts = [...form.matchAll(/ name="act" value="([^"]*)"/g)];
  if (acts.length > 0 && !acts.some(([, act = '']) => has(fields.get('act'), act))) return false;
  return [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].every(
    ([, name = '', value = '']) => !SUBJECTS.includes(name) || has(fields.get(name), value),
  );
};

const fillInput = (tag: string, fields: Fields): string => {
  const [type, values] = [attributeOf(tag, 'type'), fields.get(attributeOf(tag, 'name'))];
  if (type === 'checkbox' || type === 'radio') {
    const box = tag.replace(/ checked\b/, '');
    return has(values, attributeOf(tag, 'value')) ? box.replace(/>$/, ' checked>') : box;
  }
  if (values === undefined || type === 'hidden' || type === 'password') return tag;
  return tag.replace(/ value="[^"]*"/, '').replace(/>$/, () => ` value="${escaped(values[0] ?? '')}">`);
};

const fill = (form: string, fields: Fields): string =>
  form
    .replace(/<input [^>]*>/g, (tag) => fillInput(tag, fields))
    .replace(/(<textarea [^>]*>)([^<]*)/g, (_, tag: string, text: string) => {
      const values = fields.get(attributeOf(tag, 'name'));
      return `${tag}${values === undefined ? text : `\n${escaped(values[0] ?? '')}`}`;
    })
    .replace(/<select [^>]*>.*?<\/select>/gs, (select) => {
      const values = fields.get(attributeOf(select, 'name'));
      if (values === undefined) return select;
      return select
        .replaceAll(' selected>', '>')
        .replace(/<option value="([^"]*)"/g, (tag, value: string) =>
          has(values, value) ? `${tag} selected` : tag,
        );
    });

/** Fills the form of a page that was refused before, once. */
export const fillDraft = (reply: FastifyReply, page: string): string => {
  const kept = readDraft(reply.request);
  if (kept === undefined) return page;
  clearCookie(reply, DRAFT);
  const [path, entries] = kept;
  const fields = new Map(entries);
  return page.replace(/<form method="post"[^>]*>.*?<\/form>/gs, (form) =>
    isSent(form, path, fields) ? fill(form, fields) : form,
  );
};
