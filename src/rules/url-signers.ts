/**
 * The services that sign addresses, and the parameters with which they do. Parameters that choose an object or its form
 * (`versionId`, `response-content-type`, `x-oss-process`) are in no row, so they count.
 */

/** Reads a parameter of a signed address, decoded; "" if it is absent. */
type Read = (name: string) => string;

export type UrlSigner = {
  name: string;
  /** Where the parameters are documented. */
  source: string;
  /** All of them are there, each once, and have these forms: otherwise the address is not signed by this service. */
  required: Readonly<Record<string, RegExp>>;
  /** Further parameters of the signature. */
  optional?: readonly string[];
  /** When the address ends, in seconds since 1970. Absent: no parameter has it. */
  end?: (read: Read) => number;
};

const ANY = /./;
const SECONDS = /^\d{1,11}$/;
const HEX = /^[0-9a-f]{40,1024}$/i;
const MD5 = /^[0-9a-f]{32}$/i;
const BASIC_TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
/** `timestamp-rand-uid-md5hash` */
const HYPHENATED = /^[0-9a-f]{8,10}-\w{0,100}-\w{0,100}-[0-9a-f]{32}$/i;
/** `st=…~exp=…~acl=…~hmac=…` */
const EDGE_AUTH = /(?:^|~)exp=(\d{1,11})~(?:.*~)?hmac=[0-9a-f]{32,64}$/i;

const basicSeconds = (text: string): number =>
  Date.parse(text.replace(BASIC_TIME, '$1-$2-$3T$4:$5:$6Z')) / 1_000;

/** Signature Version 4 and those that are made like it: a date, and seconds from then on. */
const datedSigner = (
  prefix: string,
  names: Record<'algorithm' | 'credential' | 'date' | 'expires' | 'headers' | 'signature', string>,
  headers: RegExp | undefined,
): Pick<UrlSigner, 'required' | 'end'> => ({
  required: {
    [`${prefix}${names.algorithm}`]: /HMAC|ECDSA|RSA/,
    [`${prefix}${names.credential}`]: ANY,
    [`${prefix}${names.date}`]: BASIC_TIME,
    [`${prefix}${names.expires}`]: SECONDS,
    [`${prefix}${names.signature}`]: HEX,
    ...(headers !== undefined && { [`${prefix}${names.headers}`]: headers }),
  },
  end: (read) => basicSeconds(read(`${prefix}${names.date}`)) + Number(read(`${prefix}${names.expires}`)),
});

const PASCAL = {
  algorithm: 'Algorithm',
  credential: 'Credential',
  date: 'Date',
  expires: 'Expires',
  headers: 'SignedHeaders',
  signature: 'Signature',
};
const OSS = {
  algorithm: 'signature-version',
  credential: 'credential',
  date: 'date',
  expires: 'expires',
  headers: 'additional-headers',
  signature: 'signature',
};

/** A key id, `Expires` and `Signature`. */
const expiresSigner = (key: string): Pick<UrlSigner, 'required' | 'end'> => ({
  required: { [key]: ANY, Expires: SECONDS, Signature: ANY },
  end: (read) => Number(read('Expires')),
});

/** The end that the policy of CloudFront names: base64 with `-`, `_` and `~` in place of `+`, `=` and `/`. */
const policySeconds = (policy: string): number => {
  const base64 = policy.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/');
  const text = Buffer.from(base64, 'base64').toString();
  return Number(/"DateLessThan"\s*:\s*\{\s*"AWS:EpochTime"\s*:\s*(\d{1,11})/.exec(text)?.[1] ?? Number.NaN);
};

const AZURE_OPTIONAL =
  'sr sp st spr sip ss srt si ses skoid sktid skt ske sks skv saoid suoid scid sdd'.split(' ');

export const URL_SIGNERS: readonly UrlSigner[] = [
  {
    name: 'AWS Signature Version 4',
    source: 'https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html',
    ...datedSigner('X-Amz-', PASCAL, ANY),
    optional: ['X-Amz-Security-Token', 'X-Amz-S3session-Token', 'X-Amz-Content-Sha256', 'X-Amz-Region-Set'],
  },
  {
    name: 'AWS Signature Version 2',
    source:
      'https://docs.aws.amazon.com/AmazonS3/latest/API/RESTAuthentication.html#RESTAuthenticationQueryStringAuth',
    ...expiresSigner('AWSAccessKeyId'),
    optional: ['x-amz-security-token'],
  },
  {
    name: 'CloudFront, canned policy',
    source:
      'https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-canned-policy.html',
    ...expiresSigner('Key-Pair-Id'),
    optional: ['Hash-Algorithm'],
  },
  {
    name: 'CloudFront, custom policy',
    source:
      'https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-creating-signed-url-custom-policy.html',
    required: { Policy: /^[\w~-]{20,}$/, Signature: ANY, 'Key-Pair-Id': ANY },
    optional: ['Hash-Algorithm'],
    end: (read) => policySeconds(read('Policy')),
  },
  {
    name: 'Google Cloud Storage V4',
    source: 'https://cloud.google.com/storage/docs/authentication/signatures',
    ...datedSigner('X-Goog-', PASCAL, ANY),
    optional: ['X-Goog-Content-SHA256'],
  },
  {
    name: 'Google Cloud Storage V2',
    source: 'https://cloud.google.com/storage/docs/access-control/signed-urls-v2',
    ...expiresSigner('GoogleAccessId'),
  },
  {
    name: 'Google Cloud CDN',
    source: 'https://cloud.google.com/cdn/docs/using-signed-urls',
    ...expiresSigner('KeyName'),
    optional: ['URLPrefix'],
  },
  {
    name: 'Azure shared access signature',
    source: 'https://learn.microsoft.com/rest/api/storageservices/create-service-sas',
    required: { sv: /^\d{4}-\d\d-\d\d$/, se: /^\d{4}-\d\d-\d\d/, sig: ANY },
    optional: AZURE_OPTIONAL,
    end: (read) => Date.parse(read('se')) / 1_000,
  },
  {
    name: 'Azure shared access signature, stored policy',
    source: 'https://learn.microsoft.com/rest/api/storageservices/define-stored-access-policy',
    required: { sv: /^\d{4}-\d\d-\d\d$/, si: ANY, sig: ANY },
    optional: [...AZURE_OPTIONAL, 'se'],
  },
  {
    name: 'Alibaba Cloud OSS V4',
    source: 'https://www.alibabacloud.com/help/en/oss/developer-reference/add-signatures-to-urls',
    ...datedSigner('x-oss-', OSS, undefined),
    optional: ['x-oss-additional-headers', 'x-oss-security-token'],
  },
  {
    name: 'Alibaba Cloud OSS V1',
    source: 'https://www.alibabacloud.com/help/en/oss/developer-reference/signed-urls',
    ...expiresSigner('OSSAccessKeyId'),
    optional: ['security-token'],
  },
  {
    name: 'Alibaba Cloud CDN or Huawei Cloud CDN, type A',
    source: 'https://www.alibabacloud.com/help/en/cdn/user-guide/type-a-signing',
    required: { auth_key: HYPHENATED },
  },
  {
    name: 'Tencent Cloud COS',
    source: 'https://www.tencentcloud.com/document/product/436/7778',
    required: {
      'q-sign-algorithm': /^sha\d+$/,
      'q-ak': ANY,
      'q-sign-time': /^\d+;\d{1,11}$/,
      'q-key-time': /^\d+;\d+$/,
      'q-header-list': /^/,
      'q-url-param-list': /^/,
      'q-signature': HEX,
    },
    optional: ['x-cos-security-token'],
    end: (read) => Number(read('q-sign-time').split(';')[1]),
  },
  {
    name: 'Tencent Cloud CDN, type A',
    source: 'https://www.tencentcloud.com/document/product/228/35222',
    required: { sign: HYPHENATED },
  },
  {
    name: 'Tencent Cloud CDN, type D, or Qiniu CDN',
    source: 'https://www.tencentcloud.com/document/product/228/35225',
    required: { sign: MD5, t: /^(?:\d{10}|[0-9a-f]{8})$/i },
  },
  {
    name: 'Tencent Cloud CSS',
    source: 'https://www.tencentcloud.com/document/product/267/31060',
    required: { txSecret: /^(?:[0-9a-f]{32}|[0-9a-f]{64})$/i, txTime: /^[0-9a-f]{8}$/i },
    end: (read) => Number.parseInt(read('txTime'), 16),
  },
  {
    name: 'Qiniu Kodo',
    source: 'https://developer.qiniu.com/kodo/1202/download-token',
    required: { e: SECONDS, token: /^[\w-]{16,}:[\w-]{20,}=*$/ },
    end: (read) => Number(read('e')),
  },
  {
    name: 'Huawei Cloud OBS',
    source: 'https://support.huaweicloud.com/intl/en-us/api-obs/obs_04_0011.html',
    ...expiresSigner('AccessKeyId'),
    optional: ['x-obs-security-token'],
  },
  {
    name: 'Volcengine TOS',
    source: 'https://docs.byteplus.com/en/docs/tos/reference-including-a-signature-in-the-url',
    ...datedSigner('X-Tos-', PASCAL, ANY),
    optional: ['X-Tos-Security-Token', 'X-Tos-Policy'],
  },
  ...['hdnts', 'hdnea', '__token__'].map((name) => ({
    name: `Akamai ${name}`,
    source: 'https://techdocs.akamai.com/property-mgr/docs/auth-token-2-0-ver',
    required: { [name]: EDGE_AUTH },
    end: (read: Read) => Number(EDGE_AUTH.exec(read(name))?.[1]),
  })),
];
