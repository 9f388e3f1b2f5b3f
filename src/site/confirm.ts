/** Forms of important acts require that the operator proves again who it is: by the password, or by a fresh sign-in. */
import type { FastifyRequest } from 'fastify';
import { CatalogueError } from '#src/errors.ts';
import { confirmOperator, readConfirmationMethod } from '#src/identity/confirm.ts';
import { readSession } from '#src/identity/sign-in.ts';
import { operatorOf, tooMany } from '#src/site/answers.ts';
import { html, link, type SafeHtml } from '#src/site/html.ts';
import type { SiteOptions } from '#src/site/options.ts';
import { readSessionCookie } from '#src/site/sign-in.ts';

/** Most characters of a password that is sent as a proof. */
export const PROOF_MAX = 1_024;

export type ProofView = {
  login: string;
  has_password: boolean;
  confirmed: boolean;
  /** The address of a fresh sign-in; null without an OIDC provider, because then only a password is a proof. */
  signInAgain: string | null;
};

/** Reads how the operator can prove who it is. @param at the page that a fresh sign-in returns to */
export const readProof = async (
  request: FastifyRequest,
  { sql, oidc }: Pick<SiteOptions, 'sql' | 'oidc'>,
  at: string,
): Promise<ProofView> => {
  const method = await readConfirmationMethod(sql, readSessionCookie(request) ?? '');
  return {
    login: operatorOf(request).login,
    has_password: method?.has_password ?? true,
    confirmed: method?.confirmed ?? false,
    signInAgain: oidc === null ? null : link('/sign-in/oidc', { next: at, again: '1' }),
  };
};

/** Says how to get a proof, in place of a form. Null if the form can be sent. @param what the act as a subject: `A reveal` */
export const missingProof = (
  { login, has_password, confirmed, signInAgain }: ProofView,
  what: string,
): SafeHtml | null => {
  if (has_password || confirmed) return null;
  if (signInAgain === null)
    return html`<p class="soft">${what} takes your password, and you have none.
Another operator can run <code>npx catalogue operator link ${login}</code>: with that link you set one.</p>`;
  return html`<p class="soft">${what} takes a fresh sign-in.</p>
<p><a class="button primary" href="${signInAgain}">Sign in again</a></p>`;
};

/** The field of the password, for operators who have one. */
export const proofField = ({ has_password }: ProofView): SafeHtml | null =>
  has_password
    ? html`<label class="field"><span>Your password, again</span>
<input name="password" type="password" autocomplete="current-password" required maxlength="${PROOF_MAX}"></label>`
    : null;

/**
 * Checks the operator's proof, and reads the session again.
 * @param not what did not happen: `Not revealed`
 * @throws CatalogueError without the proof, or if the session has ended meanwhile
 */
export const confirm = async (
  request: FastifyRequest,
  { sql }: Pick<SiteOptions, 'sql'>,
  password: string,
  not: string,
): Promise<void> => {
  const session = readSessionCookie(request) ?? '';
  const { login } = operatorOf(request);
  const proof = await confirmOperator(sql, { session, login, password }, request.ip);
  if (proof.kind === 'too_many') throw new CatalogueError(tooMany('wrong passwords', proof.waitSeconds));
  if (proof.kind === 'refused')
    throw new CatalogueError(
      password === ''
        ? `${not}: your fresh sign-in is older than five minutes, or another act has used it. Sign in again.`
        : `${not}: the password is wrong.`,
    );
  // Verifying a password takes a moment, in which the session ends or a role is taken away.
  const operator = await readSession(sql, session, request.server.frame.site, false);
  if (operator === undefined) throw new CatalogueError(`${not}: your session has ended. Sign in again.`);
  request.operator = operator;
};
