import http from 'node:http';
import https from 'node:https';
import got, { RequestError, type Response, TimeoutError } from 'got';
import { aborted, isRedirect, redirected, transportFault } from '#src/webhooks/faults.ts';
import { collect } from '#src/webhooks/read-body.ts';
import { type Answer, REQUEST_HEADERS, type Sender, type SenderOptions } from '#src/webhooks/sender.ts';
import { whenAborted } from '#src/webhooks/when-aborted.ts';

/** Sends by got's stream. */
export const createGotSender = ({ agents, callTimeoutMs, connectTimeoutMs }: SenderOptions): Sender => {
  const client = got.extend({
    agent: agents,
    // By itself got would hand node some forty options, most of them undefined, which are copied three times.
    request: (url, { method, headers, agent }, callback) =>
      (url.protocol === 'https:' ? https : http).request(url, { method, headers, agent }, callback),
    method: 'POST',
    // got would undo as many layers as the header names: read-body.ts undoes one, to the cap.
    decompress: false,
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    timeout: {
      lookup: connectTimeoutMs,
      connect: connectTimeoutMs,
      secureConnect: connectTimeoutMs,
      request: callTimeoutMs,
    },
    headers: REQUEST_HEADERS,
  });

  return ({ url, accessToken, body, maxBytes, signal }) =>
    new Promise<Answer>((resolve, reject) => {
      const stream = client.stream(url, {
        body,
        headers: accessToken === null ? {} : { authorization: `Bearer ${accessToken}` },
      });
      // Not got's `signal`: it listens anew at every step of a call.
      const forget = whenAborted(signal, () => stream.destroy(aborted()));
      const fail = (error: Error): void => {
        forget();
        reject(error);
      };
      let answered = false;
      stream.once('response', ({ statusCode: status, headers }: Response) => {
        answered = true;
        if (isRedirect(status)) {
          stream.destroy();
          fail(redirected(status));
          return;
        }
        collect(stream, maxBytes, (bytes) => {
          forget();
          if (bytes === null) stream.destroy();
          const retryAfter = headers['retry-after'];
          resolve({ status, retryAfter, contentEncoding: headers['content-encoding'], bytes });
        });
      });
      stream.on('error', (error) => {
        fail(signal.aborted ? aborted() : faultOf(error, url.protocol === 'https:', answered));
      });
    });
};

/** got's error carries the request with its bearer token: its code and the phase it failed in travel on. */
const faultOf = (thrown: unknown, secure: boolean, answered: boolean): Error => {
  if (!(thrown instanceof RequestError))
    return transportFault({ nodeCode: undefined, late: false, answered, inHandshake: false });
  const { connect, secureConnect } = thrown.timings ?? {};
  return transportFault({
    nodeCode: thrown.code,
    late: thrown instanceof TimeoutError && thrown.event === 'request',
    answered,
    inHandshake: secure && connect !== undefined && secureConnect === undefined,
  });
};
