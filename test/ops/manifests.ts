import { glob, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

type Container = {
  name: string;
  args: string[];
  command?: string[];
  startupProbe?: unknown;
  livenessProbe?: unknown;
  readinessProbe?: unknown;
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  envFrom?: { secretRef?: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
};
type Manifest = {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec: {
    backoffLimit?: number;
    selector?: { matchLabels?: Record<string, string> };
    template: {
      metadata?: { labels: Record<string, string> };
      spec: { containers: Container[]; terminationGracePeriodSeconds?: number };
    };
  };
};

const DIRECTORY = 'deploy/kubernetes';
const COMPONENTS = ['keda', 'prometheus-operator'];

/** The manifests of the base and of its components, as they are written. */
const readManifests = async (): Promise<Manifest[]> => {
  const read = async (directory: string): Promise<Manifest[]> => {
    const kustomization = parse(await readFile(`${directory}/kustomization.yaml`, 'utf8'));
    const files = await Array.fromAsync(glob(`${directory}/*.yaml`));
    const names = files.map((file) => basename(file)).filter((name) => name !== 'kustomization.yaml');
    expect(kustomization.resources.toSorted(), 'every manifest is listed').toEqual(names.toSorted());
    const texts = await Promise.all(names.map((name) => readFile(`${directory}/${name}`, 'utf8')));
    return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
  };
  const all = [DIRECTORY, ...COMPONENTS.map((name) => `${DIRECTORY}/${name}`)].map(read);
  return (await Promise.all(all)).flat();
};
/** Every manifest of deploy/kubernetes. */
export const manifests = await readManifests();
/** The manifests of a kind. */
export const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
