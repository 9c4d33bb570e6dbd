import type { SentinelReply } from '@fulfilment/http-service/redis';

/** A fault of a deployment, and how an operator corrects it, in whole sentences. */
export interface Finding {
  readonly problem: string;
  readonly fix: string;
}

const maxClockDifferenceMs = 1_000;
const minRedisVersion = [7];
const minSentinels = 3;

/** Returns a finding if there is a problem. */
export function findingIf(isProblem: boolean, problem: string, fix: string): Finding[] {
  return isProblem ? [{ problem, fix }] : [];
}

/** Returns a finding that lists the names, if there are any. */
export function findingAbout(
  names: readonly string[],
  problem: (list: string) => string,
  fix: string,
): Finding[] {
  return findingIf(names.length > 0, problem(names.join(', ')), fix);
}

interface ClockTimes {
  /** The time of the store, in milliseconds since 1970. */
  readonly storeMs: number;
  /** The time of this machine between the request and the response. */
  readonly nowMs: number;
}

export function clockFindings(store: string, { storeMs, nowMs }: ClockTimes): Finding[] {
  const differenceMs = Math.round(Math.abs(storeMs - nowMs));
  return findingIf(
    differenceMs > maxClockDifferenceMs,
    `The clock of ${store} differs from the clock of this machine by ${differenceMs} ms.`,
    'Synchronise both clocks (NTP): tokens, leases and deadlines depend on them.',
  );
}

/** @param version version of the server, such as `3.12.14` */
export function versionFindings(store: string, version: string, min: readonly number[]): Finding[] {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10));
  const differing = min.findIndex((part, index) => (parts[index] ?? 0) !== part);
  const isTooOld = differing !== -1 && (parts[differing] ?? 0) < (min[differing] ?? 0);
  return findingIf(isTooOld, `${store} has version ${version}.`, `Upgrade it to ${min.join('.')} or later.`);
}

/** @param info response of Redis to INFO */
export function redisFindings(info: string): Finding[] {
  const value = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const policy = value('maxmemory_policy');
  return [
    ...versionFindings('Redis', value('redis_version'), minRedisVersion),
    ...findingIf(
      policy !== 'noeviction',
      `Redis may delete keys: maxmemory-policy is ${policy}.`,
      'Set maxmemory-policy to noeviction; otherwise revoked tokens and jobs are lost.',
    ),
    ...findingIf(
      value('role') !== 'master' || value('cluster_enabled') === '1',
      'REDIS_URL does not lead to a primary.',
      'Use the address of the primary, or set REDIS_SENTINELS; Redis Cluster is not supported.',
    ),
  ];
}

/** @param replies empty if the deployment has no Sentinels */
export function sentinelFindings(replies: readonly SentinelReply[]): Finding[] {
  const unusable = replies.flatMap(({ sentinel, error }) =>
    error === undefined ? [] : [`${sentinel} (${error})`],
  );
  const responses = replies.filter(({ error }) => error === undefined);
  const unknown = responses.filter(({ primary }) => primary === undefined).map(({ sentinel }) => sentinel);
  const primaries = new Set(responses.flatMap(({ primary }) => (primary === undefined ? [] : [primary])));
  return [
    ...findingAbout(
      unusable,
      (list) => `Sentinels cannot be used: ${list}.`,
      'Check REDIS_SENTINELS, REDIS_SENTINEL_PASSWORD, TLS, and the network policy (port 26379).',
    ),
    ...findingAbout(
      unknown,
      (list) => `Sentinels do not know the primary: ${list}.`,
      'Set REDIS_SENTINEL_MASTER to the name in `sentinel monitor`.',
    ),
    ...findingAbout(
      primaries.size > 1 ? [...primaries] : [],
      (list) => `Sentinels name different primaries: ${list}.`,
      'If this lasts, they watch different installations of Redis, or cannot reach each other.',
    ),
    ...findingIf(
      replies.length > 0 && replies.length < minSentinels,
      `REDIS_SENTINELS names too few Sentinels: ${replies.length}.`,
      `Run ${minSentinels} on different machines: a failover needs the votes of a majority.`,
    ),
  ];
}

/**
 * @param unusableNodes nodes of RabbitMQ that cannot be used, each with the reason
 * @param clusters names of the clusters of the other nodes
 */
export function clusterFindings(unusableNodes: readonly string[], clusters: readonly string[]): Finding[] {
  return [
    ...findingAbout(
      unusableNodes,
      (list) => `RabbitMQ nodes of RABBITMQ_URL cannot be used: ${list}.`,
      'Check the nodes, the user at each of them, TLS, and the network policy. The services use the other nodes.',
    ),
    ...findingAbout(
      clusters.length > 1 ? clusters : [],
      (list) => `RABBITMQ_URL names nodes of different clusters: ${list}.`,
      'Name only nodes of one cluster: queues of another cluster are different queues.',
    ),
  ];
}
