import { z } from 'zod';
import {
  DESCRIPTION_MAX,
  httpUrl,
  identifier,
  NAME_MAX,
  optionalHttpUrl,
  storableText,
  URLS_MAX,
} from '#src/contract/text.ts';

const urlList = z.array(httpUrl).max(URLS_MAX);

/** Game summary, application side: element of data.list[] (section 2.4). */
export const applicationGameSummarySchema = z.object({
  game_id: identifier,
  game_name: storableText(NAME_MAX),
  game_icon: optionalHttpUrl,
});
export type ApplicationGameSummary = z.infer<typeof applicationGameSummarySchema>;

/** Any integer, clamped to the safe range. A wrong `total` fails no page, because rules judge it by the rows of all pages. */
const anyInteger = z
  .number()
  .refine((value) => Number.isInteger(value), {
    params: { code: 'invalid_type' },
    error: 'is not an integer',
  })
  .transform((value) => Math.max(Math.min(value, Number.MAX_SAFE_INTEGER), Number.MIN_SAFE_INTEGER));

/** Maximum rows of one page. Ten times the largest `page_size`, because an application may ignore `page_size`. */
export const LIST_ROWS_MAX = 1_000;

/**
 * data of the application-side game.queryList (section 4.4). The elements stay `unknown`, because each is validated
 * separately, so that one invalid row does not fail the page.
 */
export const applicationGameListSchema = z.object({
  total: anyInteger,
  list: z.array(z.unknown()).max(LIST_ROWS_MAX),
});
export type ApplicationGameList = z.infer<typeof applicationGameListSchema>;

/** data of the application-side game.queryDetail (section 2.5); `null` when there is no data (section 4.5). */
export const applicationGameDetailSchema = z.object({
  game_id: identifier,
  game_name: storableText(NAME_MAX),
  game_icon: urlList,
  game_info: storableText(DESCRIPTION_MAX),
  game_store_video: optionalHttpUrl,
  game_store_pic: urlList,
});
export type ApplicationGameDetail = z.infer<typeof applicationGameDetailSchema>;

/** A detail for documents and tests. */
export const EXAMPLE_DETAIL: ApplicationGameDetail = {
  game_id: 'g-1',
  game_name: 'Lantern Harbour',
  game_icon: ['https://cdn.example/icon.png'],
  game_info: 'Bring the boats home before the fog.',
  game_store_video: 'https://cdn.example/film.mp4',
  game_store_pic: ['https://cdn.example/1.png', 'https://cdn.example/2.png'],
};

const KYC_TEXT_MAX = 2_048;

/** The nine sealed fields of a KYC record (section 2.6). */
export const KYC_SEALED_FIELDS = [
  'cp_name',
  'cp_short_name',
  'legal_entity',
  'id_type',
  'id_number',
  'tax_id',
  'registered_address',
  'corporate_account',
  'opening_bank',
] as const;
export type KycSealedField = (typeof KYC_SEALED_FIELDS)[number];

const kycText = storableText(KYC_TEXT_MAX);

/** A value for each of the nine fields. */
export const mapKycFields = <Value>(valueFor: (field: KycSealedField) => Value) =>
  Object.fromEntries(KYC_SEALED_FIELDS.map((field) => [field, valueFor(field)])) as Record<
    KycSealedField,
    Value
  >;

/** KYC record: data of cp.queryKYC (section 2.6); `null` when there is no data (section 4.3). */
export const kycRecordSchema = z.object({ cp_id: identifier, ...mapKycFields(() => kycText) });
export type KycRecord = z.infer<typeof kycRecordSchema>;

/** Default and maximum rows per page (section 8). */
export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 100;

/** The exact request bodies of sections 4.4 and 4.5. That of section 4.3 is empty. */
export type QueryGameListRequest = { page_num: number; page_size: number };
export type QueryGameDetailRequest = { game_id: string };
