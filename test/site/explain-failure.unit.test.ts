import { expect, test } from 'vitest';
import { explainFailure } from '#src/site/explain-failure.ts';

test('a fault of the platform is no answer of the application', () => {
  const reasons = [{ path: '', code: 'unknown_key' }];
  expect(String(explainFailure({ kind: 'unknown_key', reasons, operation: 'query_cp_kyc' }))).toBe(
    'A fault of the platform: A key that sealed its token or record is not set.<br><small>query_cp_kyc</small>',
  );
});

test('a field of an answer is named with what is wrong', () => {
  const reasons = [{ path: 'game_icon', code: 'too_big' }];
  const explained = explainFailure({ kind: 'invalid', reasons, operation: 'query_game_detail' });
  expect(String(explained)).toContain('<small>query_game_detail: game_icon is too many</small>');
});
