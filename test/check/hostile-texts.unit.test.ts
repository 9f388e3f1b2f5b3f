import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { check } from '#test/support/checked-application.ts';
import { type Planted, startPlanted } from '#test/support/planted-application.ts';
import { TOKEN } from '#test/support/webhooks.ts';

const NUMBER = '310101199001011234';
const SECRET = 'Secret id_number';
const CONTROLS = '\u001b]0;pwned\u0007\u009b31m\u202egnp\r\n';

/** What an application sends so that a report shows it. */
const HOSTILE: Record<string, Planted['after']> = {
  'a body with the token where it is cut': (reply) => {
    reply.raw = `${'x'.repeat(155)}${TOKEN}${CONTROLS}`;
  },
  'a compressed body': (reply) => {
    reply.raw = gzipSync(`${CONTROLS}${'x'.repeat(100_000)}${TOKEN}`);
    reply.headers['content-encoding'] = 'gzip';
  },
  'bytes that are no text': (reply) => {
    reply.raw = Buffer.concat([Buffer.from(TOKEN), Buffer.from([0xff])]);
  },
  'a Location with the token': (reply, { operation }) => {
    Object.assign(reply, { status: 302, raw: '' });
    const path = operation === 'query_cp_kyc' ? encodeURIComponent(SECRET) : TOKEN;
    reply.headers.location = `https://${TOKEN}.example/${path}/${'y'.repeat(1_000)}?token=${TOKEN}`;
  },
  'a Location that is no URL': (reply) => {
    Object.assign(reply, { status: 302, raw: '' });
    reply.headers.location = `https://[${TOKEN}`;
  },
  'ids and names of fields': (reply, { operation }) => {
    for (const row of reply.json.data?.list ?? []) {
      row.game_id = `${'z'.repeat(50)}${TOKEN}${CONTROLS}${row.game_id}${'z'.repeat(1_000_000 / 30)}`;
      row[`game_name${TOKEN}`] = row.game_name;
      delete row.game_name;
    }
    if (operation === 'query_game_detail') reply.json.data = { game_id: `${TOKEN}${CONTROLS}` };
  },
  'a ret_msg': (reply) => {
    reply.json = { ret_code: 1, ret_msg: `${'m'.repeat(190)}${TOKEN}${CONTROLS}\u0000\ud800`, data: null };
  },
  'a ret_code and a total': (reply) => {
    reply.json = { ret_code: TOKEN, ret_msg: { [TOKEN]: CONTROLS }, data: { total: TOKEN, list: [TOKEN] } };
  },
  'a KYC record as HTML': (reply, { operation }) => {
    if (operation === 'query_cp_kyc') reply.raw = `<html>${SECRET}</html>`;
  },
  'a KYC record as no JSON': (reply, { operation }) => {
    if (operation === 'query_cp_kyc') reply.raw = `<kyc>${SECRET}</kyc>`;
  },
  'a KYC record in other fields': (reply, { operation }) => {
    if (operation !== 'query_cp_kyc' || reply.json.data === null) return;
    const { cp_name: _, ...rest } = reply.json.data;
    reply.json.data = { ...rest, [`CP-Name${SECRET}`]: SECRET, [`cp_name_${NUMBER}`]: '', cp_id: 5 };
  },
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that no report may have
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\ud800-\udfff]/;

test.each(Object.entries(HOSTILE))('%s reaches no report', async (_, after) => {
  const { url } = await startPlanted({
    after: (reply, call) => {
      if (!call.isRefused) after?.(reply, call);
    },
  });
  const results = await check(url);
  expect(results.some(({ outcome }) => outcome === 'failed')).toBe(true);
  for (const { problem = '', note = '', sent = '', came = '' } of results) {
    for (const text of [problem, note, sent, came]) {
      expect(text).not.toMatch(CONTROL);
      expect(text).not.toContain(TOKEN.slice(0, 12));
      expect(text).not.toContain(
        Buffer.from(TOKEN).subarray(0, 8).toString('hex').replaceAll(/..\B/g, '$& '),
      );
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(NUMBER);
      expect(text).not.toContain(encodeURIComponent(SECRET));
      expect(text.length).toBeLessThan(1_100);
    }
  }
});
