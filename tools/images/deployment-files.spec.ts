import { serviceNames } from '@fulfilment/contracts/permissions';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { root } from '../dev/settings.ts';
import { referenceOf } from '../kubernetes/workloads.fixture.ts';
import { baseImage, baseNames } from './base-images.ts';
import { readVersion } from '../release/version.ts';
import { apps, appSource } from './build-images.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const serviceSchema = z.object({
  image: z.string(),
  build: z.looseObject({ args: z.record(z.string(), z.string()).optional() }).optional(),
  user: z.string(),
  read_only: z.boolean(),
  cap_drop: z.array(z.string()),
  cap_add: z.array(z.string()).optional(),
  privileged: z.boolean().optional(),
  security_opt: z.array(z.string()),
  tmpfs: z.array(z.string()),
  mem_limit: z.string(),
  pids_limit: z.number(),
  stop_grace_period: z.string().optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  networks: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
});
const composeText = read('deploy/compose.yaml');
const compose = z
  .object({ services: z.record(z.string(), serviceSchema), volumes: z.record(z.string(), z.unknown()) })
  .parse(parse(composeText, { merge: true }));
const services = Object.entries(compose.services);
const dockerfile = read('deploy/docker/Dockerfile');

describe('deploy/compose.yaml', () => {
  it.each(services)(
    'restricts %s: no root, no capabilities, a read-only root file system',
    (_name, service) => {
      expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      expect(service.read_only).toBe(true);
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.cap_add).toBeUndefined();
      expect(service.privileged).toBeUndefined();
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
      expect(service.tmpfs.some((mount) => mount.startsWith('/tmp'))).toBe(true);
    },
  );

  it.each(services)('contains no secret of %s, only paths of files', (_name, { environment = {} }) => {
    for (const [name, value] of Object.entries(environment)) {
      if (name.endsWith('_FILE')) expect(value).toMatch(/^\/run\//);
      else expect(`${name}=${value}`).not.toMatch(/(PASSWORD|SECRET|_KEY|_KEYS|TOKEN)=|:\/\/[^/]*:[^/]*@/);
    }
  });

  it.each(serviceNames)(
    'sets only settings of %s that the reference describes, and only the secret ones from files',
    (name) => {
      const settings = services
        .filter(([other]) => [name, `${name}-migrations`].includes(other))
        .flatMap(([, { environment = {} }]) => Object.keys(environment));
      expect(settings.length).toBeGreaterThan(5);
      for (const setting of settings)
        expect([setting, referenceOf(name).get(setting.replace(/_FILE$/, ''))?.isSecret]).toEqual([
          setting,
          setting.endsWith('_FILE'),
        ]);
    },
  );

  it.each(serviceNames)('gives %s every setting that it requires', (name) => {
    const required = [...referenceOf(name)].flatMap(([setting, { isRequired }]) =>
      isRequired ? setting : [],
    );
    const given = Object.keys(compose.services[name]?.environment ?? {});
    const fromImage = ['PORT', 'INTERNAL_PORT'];
    const names = [...given.map((setting) => setting.replace(/_FILE$/, '')), ...fromImage];
    expect(names).toEqual(expect.arrayContaining(required));
  });

  it('gives each container only its own secrets', () => {
    for (const [name, { volumes = [] }] of services) {
      if (name === 'secrets') continue; // it generates them
      const secrets = volumes.filter((volume) => /-secrets:/.test(volume));
      // The service `databases` runs the image bootstrap and has its secrets.
      const owner = name.replace(/-(migrations|cli)$/, '').replace('databases', 'bootstrap');
      const allowed = name.endsWith('-cli') ? [owner, 'operator'] : [owner];
      expect(secrets.map((volume) => volume.split('-secrets:')[0]).sort()).toEqual([...allowed].sort());
      for (const volume of secrets) expect(volume).toMatch(/:ro$/);
    }
  });

  it('publishes only the gateway, and keeps the stores in their own network', () => {
    expect(services.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual([
      'gateway',
    ]);
    for (const store of ['postgres', 'redis', 'rabbitmq'])
      expect(compose.services[store]?.networks).toEqual(['stores']);
  });

  it('connects the gateway to the ports that the images expose', () => {
    const [port, internalPort] = ['PORT', 'INTERNAL_PORT'].map(
      (name) => new RegExp(`\\b${name}=(\\d+)`).exec(dockerfile)?.[1],
    );
    expect(dockerfile).toContain(`EXPOSE ${port} ${internalPort}`);
    const { environment = {}, ports } = compose.services['gateway'] ?? {};
    for (const name of serviceNames)
      expect(environment[`${name.toUpperCase().replace('-', '_')}_ADDRESS`]).toBe(`${name}:${port}`);
    const gatewayPort = /^EXPOSE (\d+)$/m.exec(read('deploy/gateway/Dockerfile'))?.[1];
    expect(ports?.[0]?.endsWith(`:${gatewayPort}`)).toBe(true);
  });

  it.each(serviceNames)(
    'starts %s after its migrations, Redis and RabbitMQ, and gives it more than 20 s to stop',
    (name) => {
      const { depends_on: after = {}, stop_grace_period: grace = '0' } = compose.services[name] ?? {};
      expect(after[`${name}-migrations`]?.condition).toBe('service_completed_successfully');
      for (const store of ['redis', 'rabbitmq']) expect(after[store]?.condition).toBe('service_healthy');
      expect(compose.services['gateway']?.depends_on?.[name]?.condition).toBe('service_healthy');
      expect(parseInt(grace, 10)).toBeGreaterThan(20);
    },
  );

  it('builds the image of every app, and declares the volumes that it mounts', () => {
    const built = services.flatMap(([, { build }]) => build?.args?.APP ?? []);
    expect(built.sort()).toEqual([...apps].sort());
    const mounted = services.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    );
    for (const volume of mounted.filter((source) => !source.startsWith('.')))
      expect(Object.keys(compose.volumes)).toContain(volume);
  });
});

describe('the memory of creator-api', () => {
  it('suffices for its heap, and for the heap and two copies of the tags of an audio file', () => {
    const megabytesIn = (path: string, pattern: RegExp): number => Number(pattern.exec(read(path))?.[1]);
    const audio = 'apps/creator-api/src/track-uploads/audio';
    const needed =
      megabytesIn('deploy/docker/Dockerfile', /--max-old-space-size=(\d+)/) +
      megabytesIn(`${audio}/read-audio.ts`, /maxHeapMegabytes = (\d+);/) +
      2 * megabytesIn(`${audio}/describe-audio.ts`, /maxTagBytes = (\d+) \* 1024 \* 1024;/);
    const manifest = 'deploy/kubernetes/base/creator-api.yaml';
    expect(megabytesIn(manifest, /limits: { memory: (\d+)Mi/)).toBeGreaterThan(needed);
    expect(parseInt(compose.services['creator-api']?.mem_limit ?? '', 10)).toBeGreaterThan(needed);
  });
});

describe('the Dockerfiles and compose.yaml', () => {
  it.each(baseNames)('name the image of %s once, with an exact version', (name) => {
    expect(baseImage(name)).toMatch(/^[a-z]+:\d+\.\d+(\.\d+)?(-[\w-]+)?$/);
    const files = ['deploy/docker/Dockerfile', 'deploy/gateway/Dockerfile', 'deploy/compose.yaml'].map(read);
    const uses = files.join('\n').match(new RegExp(`^(FROM |ARG \\w+=| +image: )${name}:`, 'gm'));
    expect(uses).toHaveLength(1);
  });
});

describe('the Dockerfiles', () => {
  it.each(['deploy/docker/Dockerfile', 'deploy/gateway/Dockerfile'])(
    '%s has a numeric user, a health check, ports and labels, and no `# syntax=`, which would download a frontend',
    (path) => {
      const text = read(path);
      expect(text).not.toMatch(/^# *syntax=/m);
      for (const instruction of [/^USER [1-9]\d*:[1-9]\d*$/m, /^HEALTHCHECK --interval/m, /^EXPOSE \d/m])
        expect(text).toMatch(instruction);
      for (const label of ['title', 'version', 'revision', 'base.name'])
        expect(text).toContain(`org.opencontainers.image.${label}=`);
    },
  );

  it('build all services in one stage, which does not depend on the app, and installs packages before it copies the code', () => {
    const stages = dockerfile.split(/^FROM /m);
    const build = stages.find((stage) => /^\S+ AS build$/m.test(stage)) ?? '';
    expect(build).toContain('run-many --target=bundle');
    expect(build).not.toMatch(/ARG APP/);
    expect(build.indexOf('npm ci')).toBeLessThan(build.indexOf('COPY . .'));
  });

  it('start node itself as process 1, with the heap sizes of npm start', () => {
    expect(dockerfile).toContain('ENTRYPOINT []\n');
    expect(dockerfile).toContain('CMD ["node", "--max-http-header-size=40960", "dist/main.js"]');
    const developmentOptions = read('tools/dev/services/services.ts');
    const options = /NODE_OPTIONS="([^"]+)"/.exec(dockerfile)?.[1]?.split(' ') ?? [];
    expect(options).not.toEqual([]);
    for (const option of options) expect(developmentOptions).toContain(`'${option}'`);
  });
});

describe('the image', () => {
  // `npm run release` changes the version of each released service, but not that of the repository.
  it.each(apps)('of %s has the version of the app', (app) => {
    expect(appSource(app, {})).toContain(`VERSION=${readVersion(`apps/${app}`)}`);
  });
});
