/**
 * Removes the access token from a text of an application, in each form that it may echo: as it is, in JSON, or in an address.
 * A short token may be a part of the words in its place, so each place is replaced once.
 */
export const hideToken = (text: string, accessToken: string): string => {
  const forms = [accessToken, JSON.stringify(accessToken).slice(1, -1), encodeURIComponent(accessToken)];
  return text.replace(new RegExp(forms.map(RegExp.escape).join('|'), 'g'), '[access token]');
};
