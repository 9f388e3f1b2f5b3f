import { z } from 'zod';
import { listFiguresPage } from '#db/queries/review-figures.ts';
import { count } from '#src/contract/documents.ts';
import { roundDuration, spellDuration } from '#src/lib/duration.ts';
import { countColumn } from '#src/lists/columns.ts';
import { since } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

type Outcomes = { passed: number; rejected: number; median_wait_ms: number | null };

const formatOutcomes = ({ passed, rejected, median_wait_ms: wait }: Outcomes): string =>
  `${passed} passed, ${rejected} rejected${wait === null ? '' : `, median wait ${spellDuration(roundDuration(wait))}`}`;

/** What reviewers decided, by day and person. */
export const figuresList = defineList({
  name: 'review.figures',
  nouns: ['row', 'rows'],
  right: 'view',
  row: z.object({
    day: z.string().describe('In UTC.'),
    reviewer: z.string(),
    decisions: count,
    passed: count,
    rejected: count,
    undone: count,
    overturned: count.describe('Rejections that an appeal has overturned since.'),
    median_wait_ms: z.number().nullable().describe('From the arrival in the lane to the decision.'),
    p95_wait_ms: z.number().nullable(),
  }),
  filter: z.object({ since: since() }),
  sorts: ['day'],
  order: '-day',
  columns: [
    { key: 'day', kind: 'word', sort: 'day' },
    { key: 'reviewer' },
    countColumn('decisions'),
    {
      key: 'outcomes',
      value: formatOutcomes,
      width: 'narrow',
      on: 'page',
    },
    { ...countColumn('passed'), width: 'medium' },
    { ...countColumn('rejected'), width: 'medium' },
    { ...countColumn('undone'), width: 'wide' },
    { ...countColumn('overturned'), width: 'wide' },
    { key: 'median_wait_ms', title: 'Median wait', kind: 'duration', width: 'medium' },
    { key: 'p95_wait_ms', title: 'Wait, p95', kind: 'duration', width: 'wide' },
  ],
  empty: 'No game was decided in the last 30 days.',
  noMatch: 'No game was decided in this time.',
  read: listFiguresPage,
});
