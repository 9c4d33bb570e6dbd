import { z } from 'zod';
import { manifestSets } from './manifests.ts';
import {
  ofKind,
  readText,
  referenceOf,
  servicesOf,
  settingsOf,
  tableRows,
  type Workload,
  workloadsOf,
} from './workloads.fixture.ts';

/** Settings of Node itself, which the reference of a service does not list. */
const nodeSettings = ['NODE_EXTRA_CA_CERTS'];
const gatewayDefaults = [...readText('deploy/gateway/Dockerfile').matchAll(/\b(GATEWAY_\w+)=/g)];
const deploying = readText('docs/deploying.md');
const shutdownMs = Number(
  /shutdownTimeoutMs = ([\d_]+)/
    .exec(readText('libs/service-host/src/run-service.ts'))?.[1]
    ?.replace('_', ''),
);
const healthPaths = [
  ...readText('libs/http-service/src/server/health.ts').matchAll(/router\.get\('([^']+)'/g),
].map(([, path]) => `/health${path}`);

const nameOf = ({ spec }: Workload): string => spec.template.spec.containers[0].name;
const isDeployment = ({ kind }: Workload): boolean => kind === 'Deployment';
const isService = (workload: Workload): boolean => nameOf(workload) !== 'gateway';

describe.each([...manifestSets()])('the Kubernetes manifests of %s', (set, manifests) => {
  const workloads = workloadsOf(manifests);
  const deployments = workloads.filter(isDeployment);
  const selectedBy = (labels: Readonly<Record<string, string>>) =>
    workloads
      .filter(({ spec }) =>
        Object.entries(labels).every(([name, value]) => spec.template.metadata.labels[name] === value),
      )
      .map(({ metadata }) => metadata.name);

  it('run the gateway and each service, and a migration of each service', () => {
    const names = ['auth-server', 'creator-api', 'gateway', 'store-api', 'webhook-worker'];
    expect(deployments.map(nameOf).toSorted()).toEqual(names);
    const migrations = workloads.filter(({ kind }) => kind === 'Job');
    expect(migrations.map(nameOf).toSorted()).toEqual(names.filter((name) => name !== 'gateway'));
    for (const migration of migrations) {
      const [{ image, command }] = migration.spec.template.spec.containers;
      const deployment = deployments.find((candidate) => nameOf(candidate) === nameOf(migration));
      expect(image).toBe(deployment?.spec.template.spec.containers[0].image);
      expect(image).toMatch(new RegExp(`^${nameOf(migration)}:[\\d.]+$`));
      expect(command).toEqual(['node', 'dist/migrate.js']);
      expect(migration.metadata.name).toMatch(/-migration-[\w.]+$/); // each release has new Jobs
    }
  });

  it.each(workloads.map((workload) => [workload.metadata.name, workload] as const))(
    'restrict the container of %s, without a token of the API server',
    (_name, { spec }) => {
      const { securityContext, containers, ...pod } = spec.template.spec;
      const user = containers[0].name === 'gateway' ? 101 : 1000; // nginx or node, as in the images
      expect(securityContext).toEqual({
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        fsGroup: user,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      expect(Object.keys(pod).filter((field) => field.startsWith('host'))).toEqual([]);
      for (const volume of pod.volumes)
        expect(Object.keys(volume).find((type) => type !== 'name')).toMatch(/^(emptyDir|secret|configMap)$/);
      expect(containers[0].resources).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
    },
  );

  it('give each workload its own service account, without a token', () => {
    const accounts = ofKind(
      manifests,
      /^ServiceAccount$/,
      z.looseObject({
        metadata: z.looseObject({ name: z.string() }),
        automountServiceAccountToken: z.boolean(),
      }),
    );
    expect(accounts.filter((account) => account.automountServiceAccountToken)).toEqual([]);
    for (const workload of workloads)
      expect([
        workload.spec.template.spec.serviceAccountName,
        accounts.map(({ metadata }) => metadata.name),
      ]).toEqual([nameOf(workload), expect.arrayContaining([nameOf(workload)])]);
  });

  it.each(deployments.filter(isService).map((deployment) => [nameOf(deployment), deployment] as const))(
    'probe %s at paths that it serves, and restart it independently of the stores',
    (_name, { spec }) => {
      const [{ startupProbe, livenessProbe, readinessProbe }] = spec.template.spec.containers;
      expect(healthPaths).toEqual(expect.arrayContaining(['/health/live', '/health/serving']));
      expect(startupProbe?.httpGet).toEqual({ path: '/health/live', port: 'http' });
      expect(livenessProbe?.httpGet).toEqual({ path: '/health/live', port: 'http' });
      expect(readinessProbe?.httpGet).toEqual({ path: '/health/serving', port: 'http' });
    },
  );

  it.each(deployments.map((deployment) => [nameOf(deployment), deployment] as const))(
    'give %s time to stop after it was removed from its Service',
    (_name, { spec }) => {
      const { terminationGracePeriodSeconds = 0, containers } = spec.template.spec;
      const preStopSeconds = containers[0].lifecycle?.preStop.sleep.seconds ?? 0;
      // In this time, the gateway or a load balancer removes the address of the pod.
      expect(preStopSeconds).toBeGreaterThanOrEqual(5);
      expect(terminationGracePeriodSeconds).toBeGreaterThan(preStopSeconds + shutdownMs / 1000);
      expect(shutdownMs).toBe(20_000); // otherwise the pattern above found another number
    },
  );

  it.each(workloads.filter(isService).map((workload) => [workload.metadata.name, workload] as const))(
    'give %s only settings of the reference, secrets from its own Secret, and for a server all that are required',
    (_name, workload) => {
      const reference = referenceOf(nameOf(workload));
      const settings = settingsOf(manifests, workload);
      expect(
        [...settings.keys()].filter((name) => !reference.has(name) && !nodeSettings.includes(name)),
      ).toEqual([]);
      const fromSecret = workload.spec.template.spec.containers[0].env.filter(
        (variable) => variable.valueFrom,
      );
      expect(fromSecret.filter(({ name }) => reference.get(name)?.isSecret !== true)).toEqual([]);
      const secretsInPlainText = [...settings].filter(
        ([name, value]) => value !== undefined && reference.get(name)?.isSecret,
      );
      expect(secretsInPlainText).toEqual([]);
      for (const { name, valueFrom } of fromSecret)
        expect(valueFrom?.secretKeyRef).toEqual({
          name: nameOf(workload),
          key: name,
          optional: reference.get(name)?.isRequired !== true,
        });
      if (!isDeployment(workload)) return;
      const missing = [...reference].filter(
        ([name, { isRequired, isSecret }]) => (isRequired || isSecret) && !settings.has(name),
      );
      expect(missing).toEqual([]);
    },
  );

  it('give the gateway only settings that it has, and all that have no default', () => {
    const gateway = deployments.find((deployment) => !isService(deployment));
    const names = gateway === undefined ? [] : [...settingsOf(manifests, gateway).keys()];
    const template = readText('deploy/gateway/nginx.conf.template');
    const known = [...template.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name = '']) =>
      name.replace(/_SERVERS$/, '_ADDRESS'),
    );
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    const addresses = ['STORE_API', 'CREATOR_API', 'AUTH_SERVER', 'WEBHOOK_WORKER'].map(
      (name) => `${name}_ADDRESS`,
    );
    expect(names).toEqual(expect.arrayContaining([...addresses, 'GATEWAY_PUBLIC_HOST']));
    expect(gatewayDefaults.map(([, name]) => name)).not.toContain('GATEWAY_PUBLIC_HOST');
  });

  it('connect ports by name: settings, containers, Services and addresses agree', () => {
    const services = servicesOf(manifests);
    for (const deployment of deployments) {
      const [{ ports }] = deployment.spec.template.spec.containers;
      const settings = settingsOf(manifests, deployment);
      const expected = isService(deployment)
        ? { http: Number(settings.get('PORT')), internal: Number(settings.get('INTERNAL_PORT')) }
        : { https: 8443 }; // EXPOSE of deploy/gateway/Dockerfile
      expect(Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]))).toEqual(
        expected,
      );
      const service = services.find(({ metadata }) => metadata.name === nameOf(deployment));
      expect(service?.spec.ports.map(({ targetPort }) => targetPort)).toEqual(Object.keys(expected));
      const addresses = [...settings].filter(([name, value]) => /_ADDRESS$|^JWKS_URL$/.test(name) && value);
      for (const [, address = ''] of addresses) {
        const { hostname, port } = new URL(address.includes('://') ? address : `http://${address}`);
        const called = services.find(({ metadata }) => metadata.name === hostname);
        expect(called?.spec.ports.map((servicePort) => String(servicePort.port))).toContain(port);
      }
    }
    expect(readText('deploy/gateway/Dockerfile')).toContain('EXPOSE 8443');
    expect(readText('deploy/docker/Dockerfile')).toContain('EXPOSE 8080 9090');
  });

  it('select the pods of one Deployment, never those of a migration', () => {
    const selectors = z.looseObject({
      metadata: z.looseObject({ name: z.string() }),
      spec: z.looseObject({ selector: z.looseObject({ matchLabels: z.record(z.string(), z.string()) }) }),
    });
    for (const { metadata, spec } of ofKind(manifests, /^(Deployment|PodDisruptionBudget)$/, selectors))
      expect(selectedBy(spec.selector.matchLabels)).toEqual([metadata.name]);
    for (const { metadata, spec } of servicesOf(manifests))
      expect(selectedBy(spec.selector)).toEqual([metadata.name]);
    for (const { metadata, spec } of deployments)
      for (const { labelSelector } of spec.template.spec.topologySpreadConstraints ?? [])
        expect(selectedBy(labelSelector.matchLabels)).toEqual([metadata.name]);
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets).toHaveLength(deployments.length);
  });

  it('scale each Deployment at most once', () => {
    const scaled = ofKind(
      manifests,
      /^(HorizontalPodAutoscaler|ScaledObject)$/,
      z.looseObject({ spec: z.looseObject({ scaleTargetRef: z.looseObject({ name: z.string() }) }) }),
    ).map(({ spec }) => spec.scaleTargetRef.name);
    const all = deployments.map(nameOf).toSorted();
    expect(scaled.toSorted()).toEqual(set === 'ha' || set === 'keda' ? all : []);
  });

  it('order migrations before services, consumers before publishers, and the gateway last', () => {
    const waves = new Map(
      workloads.map(({ metadata }) => [
        metadata.name,
        Number(metadata.annotations['argocd.argoproj.io/sync-wave']),
      ]),
    );
    const wave = (name: string) => waves.get(name) ?? Number.NaN;
    for (const { kind, metadata } of workloads) if (kind === 'Job') expect(wave(metadata.name)).toBe(1);
    expect(wave('webhook-worker')).toBeGreaterThan(1);
    expect(wave('creator-api')).toBeGreaterThan(1);
    expect(wave('store-api')).toBeGreaterThan(Math.max(wave('webhook-worker'), wave('creator-api')));
    expect(wave('auth-server')).toBeGreaterThan(wave('store-api'));
    expect(wave('gateway')).toBeGreaterThan(wave('auth-server'));
  });

  it('contain no Secret, and refer to exactly the secrets that docs/deploying.md lists', () => {
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    const documented = tableRows(deploying.split('### Secrets\n')[1] ?? '').flatMap(
      ([secret = '', keys = '']) => keys.split(', ').map((key) => `${secret} ${key}`.replaceAll('`', '')),
    );
    const referenced = workloads.flatMap(({ spec }) =>
      spec.template.spec.containers[0].env.flatMap(({ valueFrom }) =>
        valueFrom === undefined ? [] : [`${valueFrom.secretKeyRef.name} ${valueFrom.secretKeyRef.key}`],
      ),
    );
    expect(new Set(documented)).toEqual(
      new Set([...referenced, 'gateway-tls tls.crt', 'gateway-tls tls.key']),
    );
  });
});

it('the overlay ha runs at least two replicas of each Deployment', () => {
  const minimum = z.looseObject({ spec: z.looseObject({ minReplicas: z.number() }) });
  const manifests = manifestSets().get('ha') ?? [];
  const autoscalers = ofKind(manifests, /^HorizontalPodAutoscaler$/, minimum);
  expect(autoscalers).toHaveLength(5); // the gateway and four services
  expect(autoscalers.filter(({ spec }) => spec.minReplicas < 2)).toEqual([]);
  expect(workloadsOf(manifests).filter(({ spec }) => spec.replicas !== undefined)).toEqual([]);
});
