/** Addresses of pictures that end before they are read again, or that differ in each answer. */
import { CHECKS } from '#src/portal/answer.ts';
import type { Problem } from '#src/portal/problems.ts';
import type { Reading } from '#src/portal/reading.ts';
import { ADDRESSES_ALONE } from '#src/rules/address-changes.ts';
import { explainShortAddresses } from '#src/rules/address-lifetime.ts';
import { html } from '#src/site/html.ts';

const MOVED = html`<p>Another address returns a game to review: keep the address of a picture that is the same.</p>`;

/** @param lastMs how long the addresses last after an answer; null if they have no end */
export const addressProblem = (
  { application, ended }: Pick<Reading, 'application' | 'ended'>,
  lastMs: number | null,
): Problem[] => {
  const short =
    application === undefined ? null : explainShortAddresses(lastMs, application.every_ms, 'your');
  const hasMoved = ended?.note?.includes(ADDRESSES_ALONE) ?? false;
  const problem = { tone: 'warn', step: CHECKS } as const;
  return [
    ...(hasMoved ? [{ ...problem, title: `All changed games ${ADDRESSES_ALONE}`, body: MOVED }] : []),
    ...(short === null
      ? []
      : [
          {
            ...problem,
            title: 'Addresses of your pictures end too soon',
            body: html`<p>${short.replace(/^./, (letter) => letter.toUpperCase())}.</p>`,
          },
        ]),
  ];
};
