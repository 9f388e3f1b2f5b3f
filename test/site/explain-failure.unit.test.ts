import { expect, test } from 'vitest';
import { explainFailure } from '#src/site/explain-failure.ts';

test('a fault of the platform is no answer of the application', () => {
  const reasons = [{ path: '', code: 'unknown_key' }];
  expect(String(explainFailure({ kind: 'unknown_key', reasons, operation: 'query_cp_kyc' }))).toBe(
    'A fault of the platform: A key that sealed its token, secret or record is not set.<br><small>query_cp_kyc</small>',
  );
});

test('elements of a list that have the same fault are named together', () => {
  const wrong = (path: string, code = 'not_http_url') => ({ path, code });
  const reasons = [
    ...[wrong('game_store_pic.0'), wrong('game_store_pic.2'), wrong('game_store_pic.11')],
    ...[wrong('game_icon.0'), wrong('game_icon.1', 'too_long')],
  ];
  expect(String(explainFailure({ kind: 'invalid_data', reasons, operation: 'query_game_detail' }))).toMatch(
    /^game_store_pic.0, game_store_pic.2 and game_store_pic.11 are not http or https addresses, game_icon.0 is not an http or https address, game_icon.1 is too long<br>/,
  );
});

test('rows of a list that have the same fault are named together, by their index in the answer', () => {
  const reasons = [
    ...['list.0.game_id', 'list.7.game_id'].map((path) => ({ path, code: 'invalid_type' })),
    ...['list.2', 'list.5'].map((path) => ({ path, code: 'invalid_type' })),
  ];
  expect(String(explainFailure({ kind: 'invalid_item', reasons, operation: 'query_game_list' }))).toMatch(
    /^list\.0\.game_id and list\.7\.game_id are missing or of another type, list\.2 and list\.5 are missing/,
  );
});

test('the field of an answer and what is wrong with it come first, then the call and what its failure means', () => {
  const reasons = [{ path: 'game_icon', code: 'too_big' }];
  const explained = explainFailure({ kind: 'invalid_data', reasons, operation: 'query_game_detail' });
  expect(String(explained)).toBe(
    'game_icon is too many<br><small>query_game_detail · The answer does not match the interface document.</small>',
  );
});
