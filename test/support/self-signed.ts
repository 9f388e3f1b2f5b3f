import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A certificate of tests alone, signed by itself for localhost, shop.example and 127.0.0.1. No system trusts it. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBqTCCAU+gAwIBAgIUQHC/VAPQYgaT6FoITByNwVnXJi8wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJdGVzdCBvbmx5MCAXDTI2MTEyMTA4MTU0MFoYDzIxMjYxMDI4
MDgxNTQwWjAUMRIwEAYDVQQDDAl0ZXN0IG9ubHkwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQze+MKUPxekfb/WIDx5IRThTTr3dLlSvwZy+V7naEDdI4LITdb0Ous
6nAbf3pF2qfSeftqGCILcLDoBTSm34Dmo30wezAdBgNVHQ4EFgQUL6GLbdc80QxP
SItZ9RX9YDFaSl8wHwYDVR0jBBgwFoAUL6GLbdc80QxPSItZ9RX9YDFaSl8wDwYD
VR0TAQH/BAUwAwEB/zAoBgNVHREEITAfgglsb2NhbGhvc3SCDHNob3AuZXhhbXBs
ZYcEfwAAATAKBggqhkjOPQQDAgNIADBFAiByCG39UViZnu8OUnC360HIoCCzavWe
eTtpkFI4qWWO3QIhAKiX4H3ABUt4j1vy85IR4+AgzcajF8UHETnof/d5iwgr
-----END CERTIFICATE-----`;

/** Its key, as public as the tests are. */
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnPVa4AkJGqpVJmqr
tN6e/RkITOLDQ/BO3NLsGXRBCH+hRANCAAQze+MKUPxekfb/WIDx5IRThTTr3dLl
SvwZy+V7naEDdI4LITdb0Ous6nAbf3pF2qfSeftqGCILcLDoBTSm34Dm
-----END PRIVATE KEY-----`;

/** Trusts the certificate until the test ends. */
export const trustCertificate = (): void => {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, CERTIFICATE]);
  onTestFinished(() => setDefaultCACertificates(trusted));
};

/** Writes a configuration of Redis with the certificate and these further lines. @returns its path */
export const writeTlsConfig = async (
  directory: string,
  port: number,
  more: readonly string[] = [],
): Promise<string> => {
  const [cert, key, file] = ['cert.pem', 'key.pem', 'redis.conf'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(cert, CERTIFICATE);
  await writeFile(key, KEY);
  const lines = [
    'port 0',
    `tls-port ${port}`,
    'bind 127.0.0.1',
    `tls-cert-file ${cert}`,
    `tls-key-file ${key}`,
  ];
  await writeFile(file, [...lines, 'tls-auth-clients no', 'save ""', ...more].join('\n'));
  return file;
};

/** A server with the certificate that responds to every request with this body. Returns its URL. */
export const startTlsServer = async (body: string): Promise<string> => {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    request.resume().on('end', () => response.end(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
