/** The fields of the form on a page that `mark` is in, as a browser sends them. */
export const fieldsOf = (page: string, mark: string): URLSearchParams => {
  const form = page.split('<form ').find((each) => each.includes(mark)) ?? '';
  const fields = new URLSearchParams();
  for (const [tag] of form.matchAll(/<(?:input|option)[^>]*>/g)) {
    const [, name] = / name="([^"]*)"/.exec(tag) ?? [];
    const [, value = ''] = / value="([^"]*)"/.exec(tag) ?? [];
    if (name !== undefined && (!tag.includes('checkbox') || / checked/.test(tag))) fields.append(name, value);
  }
  return fields;
};
