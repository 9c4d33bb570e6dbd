import { readPrimaries, RedisConnection } from '@fulfilment/http-service/redis';
import { examineBroker } from '@fulfilment/messaging';
import { createLogger } from '@fulfilment/runtime';
import { once } from 'node:events';
import { examinePostgres } from './examine-postgres.js';
import {
  clockFindings,
  clusterFindings,
  type Finding,
  findingAbout,
  redisFindings,
  sentinelFindings,
  versionFindings,
} from './findings.rules.js';
import type { Deployment } from './deployment.js';

const storeTimeoutMs = 5_000;
const minRabbitmqVersion = [3, 10];

/** Examines the stores of a service, with the users of the service. */
export async function examineService(deployment: Deployment): Promise<Finding[]> {
  const { settings } = deployment;
  const presentOf = (...names: readonly (keyof typeof settings)[]): string[] =>
    names.filter((name) => settings[name] !== undefined);
  const findings = await Promise.all([
    examineStore('PostgreSQL', presentOf('DATABASE_URL', 'DATABASE_DIRECT_URL'), () =>
      examinePostgres(deployment),
    ),
    examineStore('Redis', presentOf('REDIS_URL', 'REDIS_SENTINELS'), () => examineRedis(deployment)),
    examineStore('RabbitMQ', ['RABBITMQ_URL'], () => examineRabbitmq(deployment)),
  ]);
  return findings.flat();
}

async function examineRedis({ settings }: Deployment): Promise<Finding[]> {
  const redis = new RedisConnection(settings, createLogger('doctor', 'silent'), {
    commandTimeoutMs: storeTimeoutMs,
  });
  try {
    await once(redis.client, 'ready', { signal: AbortSignal.timeout(storeTimeoutMs) });
    const sentMs = Date.now();
    const [seconds, microseconds] = await redis.client.time();
    const nowMs = (sentMs + Date.now()) / 2;
    const storeMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    return [
      ...redisFindings(await redis.client.info()),
      ...sentinelFindings(await readPrimaries(settings)),
      ...clockFindings('Redis', { storeMs, nowMs }),
    ];
  } finally {
    await redis.stop();
  }
}

async function examineRabbitmq({ name, settings }: Deployment): Promise<Finding[]> {
  const { version, missing, different, unusableNodes, clusters } = await examineBroker(name, {
    url: settings.RABBITMQ_URL,
    namespace: settings.RABBITMQ_NAMESPACE,
  });
  return [
    ...versionFindings('RabbitMQ', version, minRabbitmqVersion),
    ...clusterFindings(unusableNodes, clusters),
    ...findingAbout(
      missing,
      (list) => `RabbitMQ has no ${list}.`,
      `Declare the exchange (docs/reference/permissions.md), then run \`node dist/migrate.js\` of ${name}.`,
    ),
    ...findingAbout(
      different,
      (list) => `RabbitMQ does not accept the declaration of queues: ${list}.`,
      'Compare permissions with docs/reference/permissions.md. A queue with other arguments must be emptied and deleted; then run `node dist/migrate.js`.',
    ),
  ];
}

/** Examines a store. An error of the connection is a finding too. */
async function examineStore(
  store: string,
  settings: readonly string[],
  examine: () => Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return await examine();
  } catch (error) {
    // Node's error when no address of the host accepts the connection.
    const reason: unknown = error instanceof AggregateError ? error.errors[0] : error;
    return [
      {
        problem: `${store} cannot be used: ${reason instanceof Error ? reason.message : String(reason)}.`,
        fix: `Check ${settings.join(' and ')}, the user and its password, TLS, and the network policy.`,
      },
    ];
  }
}
