import { join } from 'node:path';
import { portsFrom } from '../ports.ts';
import { runOrThrow, runProgram } from '../run-program.ts';
import { root, type Settings, siteDir, stateDirHash } from '../settings.ts';
import type { ProcessPlan } from '../supervisor/process-part.ts';
import { type Dependency, type DependencyName, ownUrl, type DependencyContext } from './dependency.ts';
import { assertResponds } from './readiness.ts';
import { writeBrokerDefinitions, writeRedisUsers } from './store-users.ts';

const composeFile = join(root, 'tools', 'dev', 'dependencies', 'stores.compose.yaml');

/** Whether a Docker engine with Compose responds. */
export async function dockerResponds(): Promise<boolean> {
  const info = await runProgram('docker', ['info', '--format', '{{.ServerVersion}}'], { timeoutMs: 5_000 });
  if (info.code !== 0) return false;
  return (await runProgram('docker', ['compose', 'version'], { timeoutMs: 5_000 })).code === 0;
}

/** Pulls the images and creates the containers. Returns false on failure: then programs can be used. */
export async function createContainers(
  context: DependencyContext,
  names: readonly DependencyName[],
): Promise<boolean> {
  writeRedisUsers(context);
  writeBrokerDefinitions(context);
  const created = await runProgram('docker', composeArguments(context.settings, 'create', ...names), {
    env: composeEnvironment(context),
  });
  if (created.code !== 0)
    context.note(`Docker could not create the containers: ${created.output.trim().split('\n').at(-1)}`);
  return created.code === 0;
}

export function dependencyFromDocker(name: DependencyName, context: DependencyContext): Dependency {
  const url = ownUrl(name, context);
  return {
    name,
    url,
    processes: [containerPlan(name, { context, kind: 'dependency', ready: () => assertResponds[name](url) })],
  };
}

/** Plans an attached `docker compose up`, which ends with its container and forwards signals to it. */
export function containerPlan(
  name: string,
  container: { context: DependencyContext; kind: ProcessPlan['kind']; ready: () => Promise<boolean> },
): ProcessPlan {
  const { settings } = container.context;
  const env = composeEnvironment(container.context);
  const docker = async (verb: string): Promise<void> => {
    await runOrThrow('docker', composeArguments(settings, verb, name), { env });
  };
  const options = ['--no-log-prefix', '--no-deps', '--abort-on-container-exit'];
  return {
    name,
    kind: container.kind,
    program: 'docker',
    args: composeArguments(settings, 'up', ...options, name),
    env,
    stopTimeoutMs: 30_000,
    readyTimeoutMs: 120_000,
    ready: container.ready,
    signalOverrides: {
      kill: () => docker('kill'),
      pause: () => docker('pause'),
      resume: () => docker('unpause'),
    },
  };
}

/** Removes the containers and their data. */
export async function removeContainers(settings: Settings): Promise<void> {
  const args = composeArguments(settings, '--profile', '*', 'down', '--volumes', '--remove-orphans');
  // Compose needs every variable of its file for each command. The secrets may be damaged, and are not used.
  const secrets = { postgresPassword: 'unused' };
  const context = { settings, ports: portsFrom(settings.basePort), secrets };
  await runOrThrow('docker', args, { env: composeEnvironment(context) });
}

function composeArguments(settings: Settings, ...args: string[]): string[] {
  const project = `fulfilment-${stateDirHash(settings)}`;
  return ['compose', '--project-name', project, '--file', composeFile, ...args];
}

function composeEnvironment({
  settings,
  ports,
  secrets,
}: Pick<DependencyContext, 'settings' | 'ports'> & {
  readonly secrets: Pick<DependencyContext['secrets'], 'postgresPassword'>;
}): Record<string, string> {
  return {
    ...settings.environment,
    POSTGRES_PORT: String(ports.postgres),
    POSTGRES_PASSWORD: secrets.postgresPassword,
    REDIS_PORT: String(ports.redis),
    RABBITMQ_PORT: String(ports.rabbitmq),
    STATE_DIR: settings.stateDir,
    SITE_DIR: siteDir,
    USER_IDS: `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
  };
}
