/** The cookie of the session that an answer sets; empty if it sets none. */
export const cookieOf = (answer: Response | undefined): string =>
  answer?.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .find((cookie) => cookie.includes('_session=')) ?? '';

/** What the next page says about this request. */
export const noticeOf = (answer: Response): string => {
  const cookie = answer.headers.getSetCookie().find((each) => each.startsWith('catalogue_notice='));
  return decodeURIComponent(cookie?.split(';')[0]?.split('=')[1] ?? '');
};

/** The ids of the sessions that a page can end. */
export const sessionIds = (page: string): string[] =>
  [...page.matchAll(/name="session" value="([0-9a-f]{64})"/g)].map(([, id = '']) => id);
