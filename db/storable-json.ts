/** Makes JSON of a value that Postgres can store, by replacing U+0000 and lone surrogates in its texts. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_key, each) =>
    typeof each === 'string' ? each.toWellFormed().replaceAll('\u0000', '\ufffd') : each,
  );
