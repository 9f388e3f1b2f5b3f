/** For each signer of src/rules/url-signers.ts an address as its documentation shows it, and the same signed later. */
export type SignedAddress = {
  signer: string;
  address: string;
  again: string;
  /** Without the signature. */
  plain: string;
  /** As ISO 8601; undefined if the address does not tell. */
  end: string | undefined;
};

const HEX = 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404';
const later = (address: string, changes: readonly (readonly [string, string])[]): string =>
  changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${from} is not in ${text}`);
    return text.replaceAll(from, to);
  }, address);

const signed = (
  signer: string,
  plain: string,
  query: string,
  changes: readonly (readonly [string, string])[],
  end?: string,
): SignedAddress => {
  const address = `${plain}${plain.includes('?') ? '&' : '?'}${query}`;
  return { signer, address, again: later(address, changes), plain, end };
};

const POLICY =
  'eyJTdGF0ZW1lbnQiOlt7IlJlc291cmNlIjoiaHR0cHM6Ly9kMTExLmNsb3VkZnJvbnQubmV0LyoiLCJDb25kaXRpb24iOnsiRGF0ZUxlc3NUaGFuIjp7IkFXUzpFcG9jaFRpbWUiOjE3NjcyOTA0MDB9fX1dfQ__';

export const SIGNED_ADDRESSES: readonly SignedAddress[] = [
  signed(
    'AWS Signature Version 4',
    'https://examplebucket.s3.amazonaws.com/test.png?versionId=3',
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Content-Sha256=UNSIGNED-PAYLOAD&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-Security-Token=IQoJb3JpZ2luX2VjEAE%3D&X-Amz-SignedHeaders=host&X-Amz-Signature=${HEX}`,
    [
      ['20130524', '20130525'],
      ['aeeed9bb', 'ffffffff'],
    ],
    '2013-05-25T00:00:00.000Z',
  ),
  signed(
    'AWS Signature Version 2',
    'https://johnsmith.s3.amazonaws.com/photos/puppy.jpg',
    'AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D&Expires=1175139620',
    [
      ['NpgC', 'XpgC'],
      ['1175139620', '1175139920'],
    ],
    '2007-03-29T03:40:20.000Z',
  ),
  signed(
    'CloudFront, canned policy',
    'https://d111111abcdef8.cloudfront.net/image.jpg?color=red&size=medium',
    'Expires=1767290400&Signature=nitfHRCrtziwO2HwPfWw~yYDhUF5EwRunQA-j19DzZrvDh6hQ73lDx&Key-Pair-Id=K2JCJMDEHXQW5F&Hash-Algorithm=SHA256',
    [
      ['1767290400', '1767290500'],
      ['nitf', 'abcd'],
    ],
    '2026-01-01T18:00:00.000Z',
  ),
  signed(
    'CloudFront, custom policy',
    'https://d111111abcdef8.cloudfront.net/image.jpg',
    `Policy=${POLICY}&Signature=nitfHRCrtziwO2HwPfWw~yYDhUF5EwRunQA-j19DzZrvDh6hQ73lDx&Key-Pair-Id=K2JCJMDEHXQW5F`,
    [
      ['E3NjcyOTA0MDB9', 'E3NjcyOTE0MDB9'],
      ['nitf', 'abcd'],
    ],
    '2026-01-01T18:00:00.000Z',
  ),
  signed(
    'Google Cloud Storage V4',
    'https://storage.googleapis.com/example-bucket/cat.jpeg',
    `X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=example%40example-project.iam.gserviceaccount.com%2F20181026%2Fus-central1%2Fstorage%2Fgoog4_request&X-Goog-Date=20181026T181309Z&X-Goog-Expires=900&X-Goog-SignedHeaders=host&X-Goog-Signature=247a2aa45f169edf4d187d54e7cc46e4731b1e6273242c4f4c39a1d2507a0e58706e25e3a85a7dbb891d62afa8496def`,
    [
      ['20181026T181309Z', '20181026T191309Z'],
      ['247a2aa4', 'aaaaaaaa'],
    ],
    '2018-10-26T18:28:09.000Z',
  ),
  signed(
    'Google Cloud Storage V2',
    'https://storage.googleapis.com/example-bucket/cat.jpeg',
    'GoogleAccessId=example@example-project.iam.gserviceaccount.com&Expires=1458238630&Signature=VVUgfqviDCov%2B8lnmVOkwBR2olSbId51kSib',
    [
      ['1458238630', '1458248630'],
      ['VVUg', 'AVUg'],
    ],
    '2016-03-17T18:17:10.000Z',
  ),
  signed(
    'Google Cloud CDN',
    'https://media.example.com/videos/id/master.jpg?userID=abc123',
    'URLPrefix=aHR0cHM6Ly9tZWRpYS5leGFtcGxlLmNvbS92aWRlb3M&Expires=1566268009&KeyName=mySigningKey&Signature=8NBSdQGzvDftrOIa3WHpp646Iis=',
    [
      ['1566268009', '1566269009'],
      ['8NBS', '9NBS'],
    ],
    '2019-08-20T02:26:49.000Z',
  ),
  signed(
    'Azure shared access signature',
    'https://myaccount.blob.core.windows.net/pictures/profile.jpg?snapshot=2024-01-01T00%3A00%3A00Z',
    'sp=r&st=2023-05-24T01:13:55Z&se=2023-05-24T09:13:55Z&skoid=abc&sktid=def&skt=2023-05-24T01%3A13%3A55Z&ske=2023-05-24T09%3A13%3A55Z&sks=b&skv=2022-11-02&sip=198.51.100.10-198.51.100.20&spr=https&sv=2022-11-02&sr=b&sig=Z%2FRHIX5Xcg0Mq2rqI3OlWTjEg2tYkboXr1P9ZUXDtkk%3D',
    [
      ['2023-05-24', '2023-05-25'],
      ['Z%2FRH', 'Y%2FRH'],
    ],
    '2023-05-24T09:13:55.000Z',
  ),
  signed(
    'Azure shared access signature, stored policy',
    'https://myaccount.blob.core.windows.net/pictures/profile.jpg',
    'sv=2022-11-02&si=pictures&sr=c&sig=Z%2FRHIX5Xcg0Mq2rqI3OlWTjEg2tYkboXr1P9ZUXDtkk%3D',
    [['Z%2FRH', 'Y%2FRH']],
  ),
  signed(
    'Alibaba Cloud OSS V4',
    'https://examplebucket.oss-cn-hangzhou.aliyuncs.com/exampleobject?x-oss-process=image%2Fresize%2Cw_200',
    'x-oss-additional-headers=host&x-oss-credential=LTAIEXAMPLE%2F20241203%2Fcn-hangzhou%2Foss%2Faliyun_v4_request&x-oss-date=20241203T034420Z&x-oss-expires=86400&x-oss-signature=70c542eaf652ac291c0c343d63ac24ede41c0526661d9d4c63c0906a2686160c&x-oss-signature-version=OSS4-HMAC-SHA256',
    [
      ['20241203T034420Z', '20241203T044420Z'],
      ['70c542ea', 'aaaaaaaa'],
    ],
    '2024-12-04T03:44:20.000Z',
  ),
  signed(
    'Alibaba Cloud OSS V1',
    'https://examplebucket.oss-cn-hangzhou.aliyuncs.com/oss-api.jpg',
    'OSSAccessKeyId=nz2pEXAMPLE&Expires=1141889120&Signature=vjbyPxybdZaNmGa%2ByT272YEAiv4%3D&security-token=CAIS',
    [
      ['1141889120', '1141899120'],
      ['vjby', 'ajby'],
    ],
    '2006-03-09T07:25:20.000Z',
  ),
  signed(
    'Alibaba Cloud CDN or Huawei Cloud CDN, type A',
    'http://cdn.example.com/video/standard/1K.jpg',
    'auth_key=1444435200-0-0-80cd3862d699b7118eed99103f2a3a4f',
    [['1444435200-0-0-80cd', '1444445200-0-0-90cd']],
  ),
  signed(
    'Tencent Cloud COS',
    'https://examplebucket-1250000000.cos.ap-beijing.myqcloud.com/exampleobject.jpg',
    'q-sign-algorithm=sha1&q-ak=AKIDEXAMPLE&q-sign-time=1557902800%3B1557910000&q-key-time=1557902800;1557910000&q-header-list=host&q-url-param-list=&q-signature=eb2519b498b02ac213cb1f3d1a3d27a3b3c9bc5f&x-cos-security-token=token',
    [
      ['1557902800', '1557903800'],
      ['1557910000', '1557911000'],
      ['eb2519b4', 'aaaaaaaa'],
    ],
    '2019-05-15T08:46:40.000Z',
  ),
  signed(
    'Tencent Cloud CDN, type A',
    'http://cloud.tencent.com/test.jpg',
    'sign=1582791032-im1acp76sx9sdqe601v-0-dd63f95e739ed4b47427a129d21ef4e3',
    [['1582791032-im1', '1582792032-am1']],
  ),
  signed(
    'Tencent Cloud CDN, type D, or Qiniu CDN',
    'http://cloud.tencent.com/test.jpg',
    'sign=0f8201d814dfaf64cf54e74c5f7dbcb0&t=1582791032',
    [
      ['0f8201d8', 'aaaaaaaa'],
      ['1582791032', '55bb9b80'],
    ],
  ),
  signed(
    'Tencent Cloud CSS',
    'https://play.example.com/live/cover.jpg',
    'txSecret=f85a2ab363fe4deaffef9754d79da6fe&txTime=5C271099',
    [
      ['f85a', 'aaaa'],
      ['5C271099', '5C271199'],
    ],
    '2018-12-29T06:13:45.000Z',
  ),
  signed(
    'Qiniu Kodo',
    'http://78re52.com1.z0.glb.clouddn.com/resource/flower.jpg',
    'e=1451491200&token=MY_ACCESS_KEY_00:yN9WtB0lQheegAwva64yBuH3ZgU=',
    [
      ['1451491200', '1451492200'],
      ['yN9W', 'aN9W'],
    ],
    '2015-12-30T16:00:00.000Z',
  ),
  signed(
    'Huawei Cloud OBS',
    'https://bucketname.obs.cn-north-4.myhuaweicloud.com/object.jpg',
    'AccessKeyId=AKEXAMPLE&Expires=1532779451&Signature=0Akylf43Bm3mD1bh2rM3dmVp1Bo%3D&x-obs-security-token=token',
    [
      ['1532779451', '1532789451'],
      ['0Aky', '1Aky'],
    ],
    '2018-07-28T12:04:11.000Z',
  ),
  signed(
    'Volcengine TOS',
    'https://examplebucket.tos-ap-southeast-1.bytepluses.com/exampleobject',
    `X-Tos-Algorithm=TOS4-HMAC-SHA256&X-Tos-Credential=testAK%2F20220101%2Fap-southeast-1%2Ftos%2Frequest&X-Tos-Date=20220101T000000Z&X-Tos-Expires=86400&X-Tos-SignedHeaders=host&X-Tos-Signature=${HEX}`,
    [
      ['20220101T000000Z', '20220102T000000Z'],
      ['aeeed9bb', 'bbbbbbbb'],
    ],
    '2022-01-02T00:00:00.000Z',
  ),
  ...['hdnts', 'hdnea', '__token__'].map((name) =>
    signed(
      `Akamai ${name}`,
      'https://example.akamaized.net/pictures/a.jpg',
      `${name}=st=1562608931~exp=1562609231~acl=%2fpictures%2f*~hmac=7a6bd5d5abdad74bda765b4da67b7ad54b6a4d6ba54d67b4ad76b4da67b7ad54`,
      [
        ['1562609231', '1562609331'],
        ['7a6bd5d5', 'aaaaaaaa'],
      ],
      '2019-07-08T18:07:11.000Z',
    ),
  ),
];
