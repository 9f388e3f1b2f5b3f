import type { Command } from '@commander-js/extra-typings';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { figuresList } from '#src/lists/figures.ts';
import { batchList, laneList } from '#src/lists/review.ts';
import { appealList, overturnedList } from '#src/lists/threads.ts';

/** `catalogue review …` */
export const register = (program: Command): void => {
  const review = program.command('review');

  defineListCommand(review, 'list', laneList, {
    summary: 'list the games that wait for a decision, the one that is due first before the others',
    details: 'Its lines can be piped into game pass and game reject.',
    examples: [
      'review list',
      'review list --lane changed --application acme',
      'review list --json --limit 500',
    ],
    limit: { max: 1_000, byDefault: 50 },
  });

  defineListCommand(review, 'appeals', appealList, {
    summary: 'list the appeals that wait for a decision, the one that is due first before the others',
    details: 'Decide with game uphold or game overturn, not on your own rejections.',
    examples: ['review appeals', 'review appeals --reviewer kim --json'],
    limit: { max: 1_000, byDefault: 50 },
  });

  defineListCommand(review, 'overturned', overturnedList, {
    summary:
      'list how rejections fared, by reviewer and reason: appealed, upheld, overturned; the last 30 days by default',
    examples: ['review overturned', 'review overturned --since 2026-01-01'],
    limit: { max: 1_000, byDefault: 100 },
  });

  defineListCommand(review, 'figures', figuresList, {
    summary: 'list what reviewers decided by day, and how long games waited; the last 30 days by default',
    examples: ['review figures', 'review figures --since 7d --json'],
    limit: { max: 1_000, byDefault: 100 },
  });

  defineListCommand(review, 'batch', batchList, {
    summary: 'list the decisions that were made together, with the games as they are now',
    examples: ['review batch 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b'],
    limit: { max: 1_000, byDefault: 100 },
  });
};
