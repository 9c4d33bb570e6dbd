import { serviceNames } from '@fulfilment/contracts/permissions';
import { freePort } from '@fulfilment/testing/free-port';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { OperatorAccess } from '../ops/operator-access.ts';
import { eventually } from '../dev/eventually.ts';
import { Failure, reasonOf } from '../dev/failure.ts';
import { Progress, type PrintLine } from '../dev/output/progress.ts';
import { runOrThrow } from '../dev/run-program.ts';
import { toolArguments } from '../dev/settings.ts';
import { writeStack } from '../dev/state/stack-file.ts';
import { serveControl } from '../dev/supervisor/control.ts';
import { ComposeProject } from './compose-project.ts';
import { checkRestrictions } from './container-rules.ts';
import type { Engine } from './engine.ts';

const project = 'fulfilment-verification';
const projectFilter = ['--filter', `label=com.docker.compose.project=${project}`];
const gatewayTimeoutMs = 60_000;
/** A service stops within 20 s, the gateway within the 30 s of its longest request. */
const stopTimeoutSeconds = 40;
const internalPort = '9090';

/**
 * Starts the whole suite from its images, with deploy/compose.yaml: secrets, databases and migrations as
 * one-shot services, every container restricted. Then runs the demo through the gateway, and stops the
 * services gracefully.
 */
export async function verifyImages(engine: Engine, tag: string): Promise<void> {
  const progress = new Progress();
  const [port, receiverPort] = [await freePort(), await freePort()];
  const baseUrl = `https://localhost:${port}`;
  if (!(await engine.hasCompose()))
    throw new Failure('The engine has no Compose. Install the plugin docker-compose.');
  const composeProject = new ComposeProject(engine, project, {
    SUITE_TAG: tag,
    BASE_URL: baseUrl,
    GATEWAY_PUBLIC_HOST: `localhost:${port}`,
    GATEWAY_HOST_PORT: `127.0.0.1:${port}`,
    DEMO_RECEIVER_PORT: String(receiverPort),
  });
  const stateDir = mkdtempSync(join(tmpdir(), 'verification-'));
  try {
    await removeVerificationProject(engine); // left by an interrupted run
    await progress.step('Secrets, databases, migrations, stores, services and gateway are up', () =>
      composeProject.runOrThrow(['up', '--detach', '--no-build']),
    );
    const caFile = join(stateDir, 'ca.pem');
    const containers = await listContainers(engine);
    const readCertificate = ['exec', containers.id('gateway'), 'cat', '/etc/gateway/tls.crt'];
    writeFileSync(caFile, await engine.dockerOrThrow(readCertificate));
    await progress.step('The gateway responds over HTTPS for every service and /docs', () =>
      checkGateway(baseUrl, caFile),
    );
    await progress.step(`All ${containers.ids.length} containers are restricted`, () =>
      checkRestrictions(engine, containers.ids),
    );
    await progress.step('Node.js is process 1 of each service', () => checkFirstProcess(engine, containers));
    const access = await operatorAccess(engine, containers, composeProject);
    await progress.step('The demo data is loaded by operator commands in containers', () =>
      loadDemoData(access, stateDir, baseUrl, caFile),
    );
    await progress.step('The demo succeeds through the gateway', (note) =>
      runDemo(access, stateDir, receiverPort, note),
    );
    await progress.step('A second run of secrets and databases changes no secret', () =>
      checkSecretsAreKept(composeProject),
    );
    await progress.step('The services stop gracefully', () => checkStop(engine, containers));
  } catch (error) {
    const { output } = await composeProject.run(['logs', '--tail', '15', '--no-color']);
    throw new Failure(`${reasonOf(error)}\n\nThe end of the logs:\n${output}`);
  } finally {
    await removeVerificationProject(engine);
    composeProject.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/**
 * Runs the one-shot services `secrets` and `databases` again, as an upgrade does. They must keep the existing
 * secrets, which an operator may have replaced.
 */
async function checkSecretsAreKept(composeProject: ComposeProject): Promise<void> {
  const run = (service: string): Promise<string> =>
    composeProject.runOrThrow(['run', '--rm', '-T', '--no-deps', service]);
  const output = await run('secrets');
  if (!output.includes('"generated":[]')) throw new Failure(`Secrets were replaced: ${output}`);
  await run('databases');
}

type Containers = Awaited<ReturnType<typeof listContainers>>;

/** Returns the running and ended containers, from the engine, since each call of Compose takes a second. */
async function listContainers(engine: Engine) {
  const format = ['--format', '{{.ID}} {{.Label "com.docker.compose.service"}}'];
  const output = await engine.dockerOrThrow(['ps', '--all', ...projectFilter, ...format]);
  const rows = output
    .trim()
    .split('\n')
    .map((row) => row.split(' '));
  return {
    ids: rows.map(([id = '']) => id),
    /** Returns the container of a service in deploy/compose.yaml. */
    id: (service: string): string => {
      const id = rows.find(([, name]) => name === service)?.[0];
      if (id === undefined) throw new Failure(`${service} has no container.`);
      return id;
    },
  };
}

/** Removes the containers, networks and volumes of a verification. images.ts also calls it after a signal. */
export async function removeVerificationProject(engine: Engine): Promise<void> {
  const remove = async (kind: string, options: readonly string[]): Promise<void> => {
    const list = kind === 'container' ? ['ls', '--all'] : ['ls'];
    const { output } = await engine.docker([kind, ...list, '--quiet', ...projectFilter]);
    const names = output.split('\n').filter((name) => name !== '');
    if (names.length > 0) await engine.docker([kind, 'rm', ...options, ...names]);
  };
  await remove('container', ['--force', '--volumes']);
  await remove('network', []);
  await remove('volume', []);
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

async function checkFirstProcess(engine: Engine, containers: Containers): Promise<void> {
  for (const name of serviceNames) {
    const line = await engine.dockerOrThrow(['exec', containers.id(name), 'cat', '/proc/1/cmdline']);
    const [program] = line.split('\0');
    if (program !== 'node') throw new Failure(`Process 1 of ${name} is ${program}, not node.`);
  }
}

/** Access for commands in containers. verify.compose.yaml publishes the internal ports that they read. */
async function operatorAccess(
  engine: Engine,
  containers: Containers,
  composeProject: ComposeProject,
): Promise<OperatorAccess> {
  const internalUrl = async (name: string): Promise<string> => {
    const addresses = await engine.dockerOrThrow(['port', containers.id(name), internalPort]);
    return `http://${addresses.trim().split('\n').at(-1)}`;
  };
  const commands = serviceNames.map((name) => [name, composeProject.operatorCommand(name)] as const);
  return {
    internal_urls: {
      'store-api': await internalUrl('store-api'),
      'creator-api': await internalUrl('creator-api'),
    },
    environments: Object.fromEntries(commands.map(([name, { environment }]) => [name, environment])),
    programs: Object.fromEntries(commands.map(([name, { line }]) => [name, line])),
  };
}

/** Loads the demo data, and writes the stack file with its accounts, which the demo reads. */
async function loadDemoData(
  access: OperatorAccess,
  stateDir: string,
  baseUrl: string,
  caFile: string,
): Promise<void> {
  const { seed } = await import('../demo/seed.ts'); // imported late, since it needs the compiled code
  writeStack(stateDir, {
    base_url: baseUrl,
    auth_url: baseUrl,
    ca_file: caFile,
    services: {},
    dependencies: { postgres: '', redis: '', rabbitmq: '' },
    ...(await seed(access)),
  });
}

async function runDemo(
  access: OperatorAccess,
  stateDir: string,
  receiverPort: number,
  note: PrintLine,
): Promise<void> {
  const control = await serveControl(stateDir, (name) => {
    if (name === 'operator-access') return Promise.resolve(access);
    throw new Failure(`A suite in containers has no command "${name}".`);
  });
  try {
    await runOrThrow(process.execPath, toolArguments('demo/demo.ts'), {
      env: { ...process.env, SUITE_DEV_DIR: stateDir, DEMO_RECEIVER_PORT: String(receiverPort) },
      onLine: note,
    });
  } finally {
    control.close();
  }
}

/** A stop by SIGTERM must end with status 0, not with SIGKILL (137). */
async function checkStop(engine: Engine, containers: Containers): Promise<void> {
  const names = [...serviceNames, 'gateway'];
  await Promise.all(
    names.map((name) =>
      engine.dockerOrThrow(['stop', '--time', String(stopTimeoutSeconds), containers.id(name)]),
    ),
  );
  for (const name of names) {
    const state = ['inspect', '--format', '{{.State.ExitCode}}', containers.id(name)];
    const code = (await engine.dockerOrThrow(state)).trim();
    if (code !== '0') throw new Failure(`${name} stopped with status ${code}.`);
  }
}
