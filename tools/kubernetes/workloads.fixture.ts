import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../dev/settings.ts';
import type { Manifest } from './kustomize.ts';

const labels = z.record(z.string(), z.string());
const selector = z.looseObject({ matchLabels: labels });
const probe = z.looseObject({
  httpGet: z.object({ path: z.string(), port: z.string() }).optional(),
  tcpSocket: z.object({ port: z.string() }).optional(),
});
const secretKeyRef = z.object({ name: z.string(), key: z.string(), optional: z.boolean().default(false) });

const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()).optional(),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }) })).default([]),
  env: z
    .array(
      z.object({
        name: z.string(),
        value: z.string().optional(),
        valueFrom: z.object({ secretKeyRef }).optional(),
      }),
    )
    .default([]),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }).optional(),
  resources: z.object({ requests: labels, limits: labels }),
  securityContext: z.looseObject({}),
});

const workload = z.looseObject({
  kind: z.enum(['Deployment', 'Job']),
  metadata: z.looseObject({ name: z.string(), annotations: labels }),
  spec: z.looseObject({
    replicas: z.number().optional(),
    selector: selector.optional(),
    template: z.looseObject({
      metadata: z.looseObject({ labels }),
      spec: z.looseObject({
        serviceAccountName: z.string(),
        automountServiceAccountToken: z.boolean(),
        enableServiceLinks: z.boolean(),
        terminationGracePeriodSeconds: z.number().optional(),
        securityContext: z.looseObject({}),
        topologySpreadConstraints: z.array(z.looseObject({ labelSelector: selector })).optional(),
        containers: z.tuple([container]),
        initContainers: z.undefined().optional(), // the tests examine only `containers`
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});
export type Workload = z.infer<typeof workload>;

const service = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    selector: labels,
    ports: z.array(z.looseObject({ name: z.string(), port: z.number(), targetPort: z.string() })),
  }),
});

const configMap = z.looseObject({ metadata: z.looseObject({ name: z.string() }), data: labels });

export function workloadsOf(manifests: readonly Manifest[]): Workload[] {
  return ofKind(manifests, /^(Deployment|Job|StatefulSet|DaemonSet|CronJob|Pod)$/, workload);
}

export function servicesOf(manifests: readonly Manifest[]): z.infer<typeof service>[] {
  return ofKind(manifests, /^Service$/, service);
}

export function ofKind<Shape extends z.ZodType>(
  manifests: readonly Manifest[],
  kind: RegExp,
  shape: Shape,
): z.output<Shape>[] {
  return manifests.filter((manifest) => kind.test(manifest.kind)).map((manifest) => shape.parse(manifest));
}

/** Settings of a container by name. The value is undefined if it comes from a Secret. */
export function settingsOf(
  manifests: readonly Manifest[],
  { spec }: Workload,
): ReadonlyMap<string, string | undefined> {
  const [{ envFrom, env }] = spec.template.spec.containers;
  const maps = ofKind(manifests, /^ConfigMap$/, configMap);
  const fromMaps = envFrom.map(({ configMapRef }) => {
    const found = maps.find(({ metadata }) => metadata.name === configMapRef.name);
    if (found === undefined) throw new Error(`The ConfigMap ${configMapRef.name} does not exist.`);
    return Object.entries(found.data);
  });
  return new Map([...fromMaps.flat(), ...env.map(({ name, value }) => [name, value] as const)]);
}

/** A row of docs/reference/configuration.md. */
export interface Setting {
  readonly isRequired: boolean;
  readonly isSecret: boolean;
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The settings of a service by name. */
export function referenceOf(serviceName: string): ReadonlyMap<string, Setting> {
  const [, section = ''] = readText('docs/reference/configuration.md').split(`\n## ${serviceName}\n`);
  return new Map(
    tableRows(section.split('\n## ')[0] ?? '').map(([name = '', byDefault, meaning = '']) => [
      name.replaceAll('`', ''),
      { isRequired: byDefault === 'required', isSecret: meaning.includes('(secret)') },
    ]),
  );
}

/** The cells of the first table of a text, without its head. */
export function tableRows(text: string): string[][] {
  const [table = ''] = /^\|.*(\n\|.*)*/m.exec(text) ?? [];
  return table
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
