import { freePort } from '@fulfilment/testing/free-port';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { OperatorAccess } from '../ops/operator-access.ts';
import { eventually } from '../dev/eventually.ts';
import { Failure, reasonOf } from '../dev/failure.ts';
import { serviceNames } from '../dev/ports.ts';
import { mustRun } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import { type BareStack, writeStack } from '../dev/stack-file.ts';
import { serveControl } from '../dev/supervisor/control.ts';
import { Composition } from './composition.ts';
import { checkRestrictions } from './container-rules.ts';
import type { Engine } from './engine.ts';

const project = 'fulfilment-verification';
const gatewayTimeoutMs = 60_000;

/**
 * Starts the whole suite from its images, with deploy/compose.yaml: secrets, databases and migrations as
 * one-shot services, every container restricted. Then runs the demo through the gateway, and stops the
 * services gracefully.
 */
export async function verifyImages(engine: Engine, tag: string, say: (line: string) => void): Promise<void> {
  const [port, receiverPort] = [await freePort(), await freePort()];
  const baseUrl = `https://localhost:${port}`;
  const composition = await Composition.open(engine, project, {
    SUITE_TAG: tag,
    BASE_URL: baseUrl,
    GATEWAY_PUBLIC_HOST: `localhost:${port}`,
    GATEWAY_HOST_PORT: `127.0.0.1:${port}`,
    DEMO_RECEIVER_PORT: String(receiverPort),
  });
  const stateDir = mkdtempSync(join(tmpdir(), 'verification-'));
  const remove = (): Promise<unknown> => composition.run(['down', '--volumes', '--remove-orphans']);
  try {
    await remove(); // left by an interrupted run
    await step(say, 'Secrets, databases, migrations, stores, services and gateway are up', () =>
      composition.mustRun(['up', '--detach', '--no-build']),
    );
    const caFile = join(stateDir, 'ca.pem');
    writeFileSync(
      caFile,
      await composition.mustRun(['exec', '-T', 'gateway', 'cat', '/etc/gateway/tls.crt']),
    );
    await step(say, 'The gateway responds over HTTPS for every service and /docs', () =>
      checkGateway(baseUrl, caFile),
    );
    const running = (await composition.mustRun(['ps', '--quiet'])).trim().split(/\s+/);
    await step(say, `All ${running.length} containers are restricted`, () =>
      checkRestrictions(engine, running),
    );
    await step(say, 'Node.js is process 1 of each service', () => checkFirstProcess(composition));
    await runDemo(composition, { stateDir, baseUrl, caFile, receiverPort, say });
    await step(say, 'The services stop gracefully', () => checkStop(engine, composition));
  } catch (error) {
    const { output } = await composition.run(['logs', '--tail', '15', '--no-color']);
    throw new Failure(`${reasonOf(error)}\n\nThe end of the logs:\n${output}`);
  } finally {
    await remove();
    composition.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function step(say: (line: string) => void, title: string, work: () => Promise<unknown>): Promise<void> {
  const startedAtMs = performance.now();
  await work();
  say(`  ✓ ${title.padEnd(70)} ${((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(5)} s`);
}

async function checkGateway(baseUrl: string, caFile: string): Promise<void> {
  const dispatcher = new Agent({ connect: { ca: readFileSync(caFile, 'utf8') }, allowH2: true });
  const expected = {
    '/store/health/ready': 200,
    '/creator/health/ready': 200,
    '/.well-known/openid-configuration': 200,
    '/store/v1/webhooks': 401,
    '/store/v1/events': 401,
    '/store/v1/webhook-deliveries': 401,
    '/docs/': 200,
    '/unknown': 404,
  };
  try {
    for (const [path, wanted] of Object.entries(expected))
      await eventually(
        async () => {
          const { statusCode, body } = await request(`${baseUrl}${path}`, { dispatcher });
          await body.dump();
          if (statusCode === wanted) return true;
          throw new Failure(`the status is ${statusCode}`);
        },
        gatewayTimeoutMs,
        `GET ${path} returns ${wanted}`,
      );
  } finally {
    await dispatcher.destroy();
  }
}

async function checkFirstProcess(composition: Composition): Promise<void> {
  const script =
    'process.stdout.write(require("node:fs").readFileSync("/proc/1/cmdline", "utf8").split("\\0")[0])';
  for (const name of serviceNames) {
    const program = (await composition.mustRun(['exec', '-T', name, 'node', '-e', script])).trim();
    if (program !== 'node') throw new Failure(`Process 1 of ${name} is ${program}, not node.`);
  }
}

async function runDemo(
  composition: Composition,
  at: {
    readonly stateDir: string;
    readonly baseUrl: string;
    readonly caFile: string;
    readonly receiverPort: number;
    readonly say: (line: string) => void;
  },
): Promise<void> {
  const commands = Object.fromEntries(serviceNames.map((name) => [name, composition.command(name)]));
  const internalUrls = await Promise.all(
    ['store-api', 'creator-api'].map(async (name) => {
      const address = (await composition.mustRun(['port', name, '9090'])).trim().split('\n').at(-1);
      return [name, `http://${address}`] as const;
    }),
  );
  const access: OperatorAccess = {
    internal_urls: Object.fromEntries(internalUrls),
    environments: Object.fromEntries(Object.entries(commands).map(([name, one]) => [name, one.environment])),
    programs: Object.fromEntries(Object.entries(commands).map(([name, one]) => [name, one.line])),
  };
  const bare: BareStack = {
    base_url: at.baseUrl,
    auth_url: at.baseUrl,
    ca_file: at.caFile,
    services: {},
    dependencies: { postgres: '', redis: '', rabbitmq: '' },
  };
  await step(at.say, 'The demo data is loaded by operator commands in containers', async () => {
    const { seed } = await import('../demo/seed.ts'); // imported late, since it needs the compiled code
    writeStack(at.stateDir, { ...bare, ...(await seed(access)) });
  });
  const control = await serveControl(at.stateDir, (name) => {
    if (name === 'operator-access') return Promise.resolve(access);
    throw new Failure(`A suite in containers has no command "${name}".`);
  });
  try {
    await step(at.say, 'The demo succeeds through the gateway', () =>
      mustRun(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', join(root, 'tools', 'demo', 'demo.ts')],
        {
          env: { ...process.env, SUITE_DEV_DIR: at.stateDir, DEMO_RECEIVER_PORT: String(at.receiverPort) },
          onLine: (line) => at.say(`      ${line}`),
        },
      ),
    );
  } finally {
    control.close();
  }
}

/** A stop by SIGTERM must end with status 0, not with SIGKILL (137). */
async function checkStop(engine: Engine, composition: Composition): Promise<void> {
  const names = [...serviceNames, 'gateway'];
  const ids = await Promise.all(
    names.map(async (name) => (await composition.mustRun(['ps', '--quiet', name])).trim()),
  );
  await composition.mustRun(['stop', ...names]);
  for (const [index, id] of ids.entries()) {
    const code = (await engine.mustDocker(['inspect', '--format', '{{.State.ExitCode}}', id])).trim();
    if (code !== '0') throw new Failure(`${names[index] ?? ''} stopped with status ${code}.`);
  }
}
