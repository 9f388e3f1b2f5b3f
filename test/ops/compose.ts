import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

type ComposeService = {
  command?: string[];
  deploy?: { replicas: number };
  environment?: Record<string, string>;
  healthcheck?: { test: string[] };
};

export const readCompose = async (): Promise<{
  services: Record<string, ComposeService>;
  configs?: Record<string, { content: string }>;
}> => parse(await readFile('docker-compose.yml', 'utf8'), { merge: true });

/** Our services; the others are Postgres and Redis. */
export const ROLES = ['worker', 'api', 'operator-api', 'console', 'kyc-desk', 'media', 'migrate'];
