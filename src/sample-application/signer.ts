import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Signs the addresses of pictures and videos at each answer, as the storage of most applications does. */
export type AddressSigner = {
  sign: (address: string) => string;
  /** Does this path with its query have a signature that has not ended? */
  isValid: (pathAndQuery: string) => boolean;
};

/** `20260301T120000Z` */
const basicTime = (ms: number): string => new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '');
const msOf = (basic: string): number =>
  Date.parse(basic.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

/**
 * Signs with the parameters of AWS Signature Version 4. The signature is over the path and these parameters.
 * @param lastsS seconds for which an address is valid
 * @param secret with the same one, addresses of a former process stay valid
 */
export const createAddressSigner = (
  lastsS: number,
  secret: Buffer | string = randomBytes(32),
): AddressSigner => {
  const signatureOf = (path: string, date: string, expires: string): string =>
    createHmac('sha256', secret).update(`${path}\n${date}\n${expires}`).digest('hex');
  return {
    sign: (address) => {
      const url = new URL(address);
      const date = basicTime(Date.now());
      const parameters = {
        'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
        'X-Amz-Credential': `SAMPLE/${date.slice(0, 8)}/local/s3/aws4_request`,
        'X-Amz-Date': date,
        'X-Amz-Expires': String(lastsS),
        'X-Amz-SignedHeaders': 'host',
        'X-Amz-Signature': signatureOf(url.pathname, date, String(lastsS)),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },
    isValid: (pathAndQuery) => {
      const { pathname, searchParams } = new URL(pathAndQuery, 'http://sample');
      const read = (name: string): string => searchParams.get(`X-Amz-${name}`) ?? '';
      const expected = Buffer.from(signatureOf(pathname, read('Date'), read('Expires')));
      const given = Buffer.from(read('Signature'));
      const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
      return isSigned && Date.now() < msOf(read('Date')) + Number(read('Expires')) * 1_000;
    },
  };
};
