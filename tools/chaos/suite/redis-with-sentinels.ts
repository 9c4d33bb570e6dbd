import { Redis } from 'ioredis';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { redisResponds } from '../../dev/dependencies/readiness.ts';
import { redisProgram } from '../../dev/dependencies/redis.ts';
import { writeRedisUsers } from '../../dev/dependencies/store-users.ts';
import { Failure } from '../../dev/failure.ts';
import type { ProcessPlan } from '../../dev/supervisor/process-part.ts';
import { eventually } from '../../dev/eventually.ts';
import type { Supervisor } from '../../dev/supervisor/supervisor.ts';
import type { ChaosContext } from './context.ts';

const failoverTimeoutMs = 60_000;

export type RedisWithSentinels = Awaited<ReturnType<typeof startRedisWithSentinels>>;

/** Starts Redis with one replica and three Sentinels. */
export async function startRedisWithSentinels(context: ChaosContext, supervisor: Supervisor) {
  const program = redisProgram();
  if (program === undefined)
    throw new Failure('redis-server is not installed on this machine: apt-get install redis-server');
  const { ports, secrets } = context;
  const [primary] = ports.redisServers;
  const users = writeRedisUsers({ ...context, note: () => undefined });
  const prepare = (name: string, port: number, lines: readonly string[]): ProcessPlan => {
    const home = join(context.settings.stateDir, name);
    const file = join(home, 'redis.conf');
    mkdirSync(home, { recursive: true });
    writeFileSync(file, [`port ${port}`, 'bind 127.0.0.1', `dir "${home}"`, ...lines, ''].join('\n'));
    const isSentinel = name.startsWith('sentinel');
    return {
      name,
      kind: 'dependency',
      program,
      args: [file, ...(isSentinel ? ['--sentinel'] : [])],
      cwd: home,
      env: { PATH: '/usr/bin:/bin' },
      stopSignal: 'SIGKILL', // a stop is a failure of the server
      ready: () => redisResponds(isSentinel ? `redis://127.0.0.1:${port}` : serverUrl(port, context)),
    };
  };
  const servers = await supervisor.startLayer(
    ports.redisServers.map((port, index) =>
      prepare(`redis-${index + 1}`, port, [
        `aclfile "${users}"`,
        'appendonly yes',
        'save ""',
        'maxmemory-policy noeviction',
        'repl-diskless-sync-delay 0',
        'masteruser default',
        `masterauth ${secrets.redisPassword}`,
        ...(index === 0 ? [] : [`replicaof 127.0.0.1 ${primary}`]),
      ]),
    ),
  );
  await supervisor.startLayer(
    ports.sentinels.map((port, index) =>
      prepare(`sentinel-${index + 1}`, port, [
        `sentinel monitor mymaster 127.0.0.1 ${primary} 2`, // two Sentinels must agree
        'sentinel auth-user mymaster default',
        `sentinel auth-pass mymaster ${secrets.redisPassword}`,
        'sentinel down-after-milliseconds mymaster 2000',
        'sentinel failover-timeout mymaster 10000',
      ]),
    ),
  );
  return {
    /** Kills the primary. Resolves when the Sentinels have promoted the other server and it has a replica. */
    failOver: async (onAvailable: () => void): Promise<void> => {
      const before = await primaryPort(context);
      const killed = servers[ports.redisServers.indexOf(before)];
      await killed?.stop();
      await eventually(
        async () => (await primaryPort(context)) !== before,
        failoverTimeoutMs,
        'the Sentinels name another primary',
      );
      onAvailable();
      await killed?.start();
      await eventually(() => isReplica(before, context), failoverTimeoutMs, 'the killed Redis is a replica');
    },
  };
}

async function primaryPort({ ports }: ChaosContext): Promise<number> {
  for (const port of ports.sentinels) {
    const address = await withClient(`redis://127.0.0.1:${port}`, (client) =>
      client.call('SENTINEL', 'get-master-addr-by-name', 'mymaster'),
    ).catch(() => undefined);
    if (Array.isArray(address)) return Number(address[1]);
  }
  throw new Failure('No Sentinel names the primary.');
}

async function isReplica(port: number, context: ChaosContext): Promise<boolean> {
  const info = await withClient(serverUrl(port, context), (client) => client.info('replication'));
  return info.includes('role:slave') && info.includes('master_link_status:up');
}

function serverUrl(port: number, { secrets }: ChaosContext): string {
  return `redis://default:${secrets.redisPassword}@127.0.0.1:${port}/0`;
}

async function withClient<Result>(url: string, use: (client: Redis) => Promise<Result>): Promise<Result> {
  const client = new Redis(url, {
    retryStrategy: () => null,
    commandTimeout: 1_000,
    enableReadyCheck: false,
  });
  client.on('error', () => undefined);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}
