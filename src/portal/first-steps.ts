/** What the developer of a new application does, until its first game is stored. */
import type { CheckRow } from '#db/queries/application-checks.ts';
import { READ_BUTTON } from '#src/portal/answer.ts';
import { describeReading, type Reading } from '#src/portal/reading.ts';
import { describeNextRead } from '#src/portal/schedule.ts';
import { isAllRight, isListRead } from '#src/portal/unread.ts';
import { action, ago, html, type SafeHtml, section } from '#src/site/html.ts';

type Step = { title: string; said: SafeHtml | string | null; isDone: boolean; act?: SafeHtml };

const describeCheck = ({ finished_at, requested_at }: CheckRow, isDone: boolean): SafeHtml => {
  if (finished_at === null) return html`The checks began ${ago(requested_at)}`;
  return isDone
    ? html`All rules hold. Checked ${ago(finished_at)}`
    : html`The last report names what to correct. Checked ${ago(finished_at)}`;
};

const checkStep = (check: CheckRow | undefined): Step => {
  const title = 'Check your webhooks';
  if (check === undefined)
    return {
      title,
      said: 'The checks call your three webhooks and compare each answer with the interface document.',
      isDone: false,
      act: action('/portal/checks', 'Run the checks', { fields: { act: 'check' }, kind: 'primary' }),
    };
  const isDone = isAllRight(check);
  const kind = isDone ? '' : ' primary';
  const act = html`<a class="button${kind}" href="/portal/checks">Read the report</a>`;
  return { title, said: describeCheck(check, isDone), isDone, act };
};

const DONE = html`<span class="hidden"> (done)</span>`;

const stepItem = ({ title, said, isDone, act }: Step): SafeHtml =>
  html`<li${isDone ? html` class="done"` : null}><div><h3>${title}${isDone ? DONE : null}</h3>
<p>${said}</p></div>${act ?? null}</li>`;

const readStep = (reading: Reading): Step => {
  const { application, last, isReading, mayRead } = reading;
  const title = 'The platform reads your list';
  if (isListRead(reading)) {
    const said = last === undefined ? null : html`The last run began ${ago(last.started_at)}`;
    return { title, said, isDone: true };
  }
  const said = isReading ? describeReading(reading) : describeNextRead(application);
  return { title, said, isDone: false, ...(mayRead && { act: READ_BUTTON }) };
};

export const firstSteps = (reading: Reading, check: CheckRow | undefined, hasAddress: boolean): SafeHtml => {
  const steps: Step[] = [
    { title: 'Get an API token', said: 'You are signed in with it.', isDone: true },
    checkStep(check),
    readStep(reading),
    {
      title: 'Reviewers decide on your games',
      said: 'A game that passes is live. You need not do anything.',
      isDone: false,
    },
    {
      title: 'Hear of each decision',
      said: html`Set an address that receives the events, or fetch them by <code>event/list</code>.`,
      isDone: hasAddress,
      act: html`<a class="button" href="/portal/events">${hasAddress ? 'Events' : 'Set an address'}</a>`,
    },
  ];
  return section('Your first game', html`<ol class="todo">${steps.map(stepItem)}</ol>`);
};
