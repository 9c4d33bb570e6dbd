import { z } from 'zod';
import type { Manifest } from './kustomize.ts';
import { manifestSets } from './manifests.ts';
import { ofKind, readText, tableRows } from './workloads.fixture.ts';

const labels = z.record(z.string(), z.string());
const peer = z.strictObject({
  podSelector: z.strictObject({ matchLabels: labels }).optional(),
  namespaceSelector: z.strictObject({ matchLabels: labels }).optional(),
  ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()) }).optional(),
});
type Peer = z.infer<typeof peer>;
const ports = z.array(
  z.strictObject({ port: z.number(), endPort: z.number().optional(), protocol: z.string().optional() }),
);
const policy = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.strictObject({
    podSelector: z.strictObject({
      matchLabels: labels.default({}),
      matchExpressions: z
        .array(z.strictObject({ key: z.string(), operator: z.literal('In'), values: z.array(z.string()) }))
        .optional(),
    }),
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
    ingress: z.array(z.strictObject({ from: z.array(peer).optional(), ports })).default([]),
    egress: z.array(z.strictObject({ to: z.array(peer).optional(), ports })).default([]),
  }),
});

const app = 'app.kubernetes.io/name';
const storePorts: Readonly<Record<number, string>> = {
  5432: 'PostgreSQL',
  6379: 'Redis',
  26379: 'Redis',
  5671: 'RabbitMQ',
  5672: 'RabbitMQ',
};

/** The name of a peer, as in the documentation. */
function nameOf({ podSelector, namespaceSelector, ipBlock }: Peer): string {
  const pod = podSelector?.matchLabels[app] ?? podSelector?.matchLabels['k8s-app'];
  const namespace = namespaceSelector?.matchLabels['kubernetes.io/metadata.name'];
  if (ipBlock !== undefined) return 'public networks';
  if (namespace === 'monitoring' && pod === 'prometheus') return 'Prometheus';
  if (namespace === 'kube-system' && pod === 'kube-dns') return 'name server';
  if (namespace !== undefined || pod === undefined) throw new Error('The peer has no name.');
  return pod;
}

/** Connections that the rules of one direction allow: `gateway > store-api: 8080`. */
function connections(manifests: readonly Manifest[], direction: 'ingress' | 'egress'): string[] {
  return ofKind(manifests, /^NetworkPolicy$/, policy).flatMap(({ spec }) => {
    const own = spec.podSelector.matchExpressions?.flatMap(({ values }) => values) ?? [
      spec.podSelector.matchLabels[app] ?? 'every pod',
    ];
    const rules =
      direction === 'ingress'
        ? spec.ingress.map(({ from, ports }) => ({ peers: from, ports }))
        : spec.egress.map(({ to, ports }) => ({ peers: to, ports }));
    return rules.flatMap(({ peers, ports }) =>
      ports.flatMap(({ port, endPort }) => {
        // The rules for the stores name no peer, since a store may have any address. The documentation names
        // the store by its port.
        const others = peers?.map(nameOf) ?? [
          direction === 'ingress' ? 'anywhere' : (storePorts[port] ?? 'anywhere'),
        ];
        const range = endPort === undefined ? String(port) : `${port}-${endPort}`;
        return own.flatMap((self) =>
          others.map((other) =>
            direction === 'ingress' ? `${other} > ${self}: ${range}` : `${self} > ${other}: ${range}`,
          ),
        );
      }),
    );
  });
}

/** Connections of the table in the documentation. */
function documented(): string[] {
  const [, section = ''] = readText('docs/deploying.md').split('### Allowed connections\n');
  const list = (cell = ''): string[] => cell.split(', ');
  return tableRows(section).flatMap(([from, to, numbers]) =>
    list(from).flatMap((source) =>
      list(to).flatMap((target) => list(numbers).map((port) => `${source} > ${target}: ${port}`)),
    ),
  );
}

describe.each([...manifestSets()])('the network policies of %s', (_set, manifests) => {
  const [ingress, egress] = [connections(manifests, 'ingress'), connections(manifests, 'egress')];

  it('allow the connections that docs/deploying.md lists, and no others', () => {
    expect(new Set([...ingress, ...egress])).toEqual(new Set(documented()));
  });

  it('allow a connection between pods on both sides', () => {
    const betweenPods = (all: readonly string[]) =>
      new Set(
        all.filter(
          (connection) => /^[a-z-]+ > [a-z-]+:/.test(connection) && !/anywhere|Prometheus/.test(connection),
        ),
      );
    expect(betweenPods(egress)).toEqual(betweenPods(ingress));
    expect(betweenPods(egress).size).toBe(7); // gateway to 4 services, and 3 services to auth-server
  });

  it('deny by default all connections of every pod', () => {
    const all = ofKind(manifests, /^NetworkPolicy$/, policy);
    const deny = all.find(({ metadata }) => metadata.name === 'default-deny');
    expect(deny?.spec).toEqual({
      podSelector: { matchLabels: {} },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
      egress: [],
    });
  });

  it('exclude private networks from each rule for public networks', () => {
    const blocks = ofKind(manifests, /^NetworkPolicy$/, policy)
      .flatMap(({ spec }) => spec.egress.flatMap(({ to = [] }) => to))
      .flatMap(({ ipBlock }) => ipBlock ?? []);
    expect(blocks).toHaveLength(6); // IPv4 and IPv6 in each of 3 policies
    for (const { cidr, except } of blocks)
      expect(except).toEqual(
        cidr === '::/0'
          ? ['::1/128', 'fc00::/7', 'fe80::/10']
          : expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']),
      );
  });
});
