import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import type { StoreArea } from '#src/contract/pictures.ts';
import { BEFORE_ALL_OTHERS, boundResponse, codeOfService } from '#src/lib/bound-response.ts';
import { StoreError, type StoreErrorCode } from '#src/picture-store/errors.ts';
import type { StoreLocation } from '#src/picture-store/location.ts';
import {
  nameOfPicture,
  PICTURE_BYTES_MAX,
  PICTURE_TYPES,
  type PictureStore,
} from '#src/picture-store/store.ts';

/** Together shorter than the time that a session of Postgres may be idle in a transaction (30 s). */
const LIMITS = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 8_000, throwOnRequestTimeout: true },
};

/** Longest time of a call with its retries, because a response that never ends would occupy its job for ever. */
const CALL_MS = 25_000;

/** A billion pictures. A broken service names a further page for ever. */
const PAGES_MAX = 4_000_000;

/** Names of a page of a listing: 325 KB if the prefix is as long as S3 allows. */
const PAGE_NAMES = 250;
/** More than such a page. Each byte of XML takes 50 of memory, and a flood of document types a time that is quadratic. */
const RESPONSE_MAX_BYTES = 512 * 1024;

/** The bytes never change, because their hash is their name. */
const CACHE_CONTROL = 'public, max-age=31536000, immutable';

const CODES = new Map<string, StoreErrorCode>([
  ['NoSuchBucket', 'not_there'],
  ['AccessDenied', 'denied'],
  ['InvalidAccessKeyId', 'denied'],
  ['SignatureDoesNotMatch', 'denied'],
  ['CredentialsProviderError', 'denied'],
  ['ExpiredToken', 'denied'],
  ['QuotaExceeded', 'full'],
  ['XMinioStorageFull', 'full'],
  ['TimeoutError', 'unreachable'],
  ['AbortError', 'unreachable'],
]);

type ServiceError = Error & { code?: string; $metadata?: { httpStatusCode?: number } };

/** Is a picture missing? An error of a missing bucket says nothing about its pictures. */
const isNotFound = (error: ServiceError): boolean =>
  error.name !== 'NoSuchBucket' &&
  (error.name === 'NoSuchKey' || error.name === 'NotFound' || error.$metadata?.httpStatusCode === 404);

/** Reads until more than `PICTURE_BYTES_MAX` bytes have arrived, then ends the response. */
const readBeginning = async (body: Readable): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > PICTURE_BYTES_MAX) break;
  }
  return Buffer.concat(pieces);
};

/** A store in a bucket. Credentials, region and proxies are the AWS client's defaults (`AWS_…`). */
export const openS3Store = (
  { bucket, prefix, endpoint }: Extract<StoreLocation, { kind: 's3' }>,
  config: S3ClientConfig = {},
  { callMs = CALL_MS, pagesMax = PAGES_MAX } = {},
): PictureStore => {
  const inTime = () => ({ abortSignal: AbortSignal.timeout(callMs) });
  const client = new S3Client({
    ...LIMITS,
    // Services that are compatible with S3 do not all know checksums in trailers, and the name is a checksum.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...config,
  });
  client.middlewareStack.add(boundResponse(RESPONSE_MAX_BYTES), BEFORE_ALL_OTHERS);
  const where = `s3://${bucket}/${prefix}`;
  const at = (area: StoreArea, name: string) => ({ Bucket: bucket, Key: `${prefix}${area}/${name}` });

  const toStoreError = (thrown: unknown): StoreError => {
    if (thrown instanceof StoreError) return thrown;
    const error = thrown as ServiceError;
    const known = CODES.get(error.name) ?? (error.code?.startsWith('E') ? 'unreachable' : undefined);
    const byStatus = error.$metadata?.httpStatusCode === 403 ? 'denied' : 'failed';
    return new StoreError(known ?? byStatus, where, codeOfService(error));
  };
  const guard = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw toStoreError(error);
    }
  };
  const exists = (area: StoreArea, name: string): Promise<boolean> =>
    client.send(new HeadObjectCommand(at(area, name)), inTime()).then(
      () => true,
      (error: ServiceError) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );

  return {
    put: (area, picture, bytes) =>
      guard(async () => {
        await client.send(
          new PutObjectCommand({
            ...at(area, nameOfPicture(picture)),
            Body: bytes,
            ContentLength: bytes.length,
            ContentType: PICTURE_TYPES[picture.format].contentType,
            CacheControl: CACHE_CONTROL,
          }),
          inTime(),
        );
      }),
    move: (to, picture) =>
      guard(async () => {
        const name = nameOfPicture(picture);
        const from = at(to === 'passed' ? 'seen' : 'passed', name);
        // Replaces an existing object, because a killed server may have written only a part of it.
        const copy = new CopyObjectCommand({ ...at(to, name), CopySource: `${bucket}/${from.Key}` });
        await client.send(copy, inTime()).then(
          ({ CopyObjectResult }) => {
            // A server that is no S3 may answer 200 without a copy, so that the original must stay.
            if (CopyObjectResult?.ETag === undefined) throw new StoreError('failed', where, 'no copy');
          },
          async (error: ServiceError) => {
            if (!isNotFound(error)) throw error;
            if (!(await exists(to, name))) throw new StoreError('missing', where, name);
          },
        );
        await client.send(new DeleteObjectCommand(from), inTime());
      }),
    read: (area, name) =>
      guard(async () => {
        try {
          const { Body } = await client.send(new GetObjectCommand(at(area, name)), inTime());
          const bytes = await readBeginning(Body as Readable);
          return bytes.length === 0 ? undefined : bytes;
        } catch (error) {
          if (isNotFound(error as ServiceError)) return undefined;
          throw error;
        }
      }),
    delete: (area, name) =>
      guard(async () => void (await client.send(new DeleteObjectCommand(at(area, name)), inTime()))),
    list: async function* (area) {
      const { Key: folder } = at(area, '');
      let ContinuationToken: string | undefined;
      try {
        for (let page = 1; page === 1 || ContinuationToken !== undefined; page += 1) {
          const part = { Prefix: folder, MaxKeys: PAGE_NAMES, ContinuationToken };
          const command = new ListObjectsV2Command({ Bucket: bucket, ...part });
          const { Contents = [], NextContinuationToken: next } = await client.send(command, inTime());
          for (const { Key = '', Size = 0 } of Contents)
            yield { area, name: Key.slice(folder.length), bytes: Size };
          if (next !== undefined && (next === ContinuationToken || page === pagesMax))
            throw new StoreError('failed', where, 'an endless listing');
          ContinuationToken = next;
        }
      } catch (error) {
        throw toStoreError(error);
      }
    },
    close: () => client.destroy(),
  };
};
