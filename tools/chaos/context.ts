import { serviceNames, type ServiceName, portsFrom } from '../dev/ports.ts';
import { type Secrets, secretsIn } from '../dev/secrets.ts';
import { serviceEnvironment, type ServiceContext, storeUserUrl } from '../dev/services.ts';
import type { Settings } from '../dev/settings.ts';

/** Replicas of each service. */
export const replicaNumbers = [1, 2] as const;
export type ReplicaNumber = (typeof replicaNumbers)[number];

/** Ports of a suite on several "machines": those of one suite, and further ones of its stores. */
export function chaosPorts(base: number) {
  const from = (offset: number, count: number): number[] =>
    Array.from({ length: count }, (_, index) => base + offset + index);
  return {
    ...portsFrom(base),
    postgresServers: from(31, 3), // the third is restored from a backup
    postgresReplication: base + 34,
    postgresPorts: from(35, serviceNames.length + 1),
    redisServers: from(41, 2),
    sentinels: from(44, 3),
    brokers: from(51, 3),
    brokerDistribution: from(54, 3),
  };
}
export type ChaosPorts = ReturnType<typeof chaosPorts>;

/** Addresses and settings that the parts of the suite share. */
export interface ChaosContext extends ServiceContext {
  readonly ports: ChaosPorts;
}

export function chaosContext(settings: Settings, trustFile: string): ChaosContext {
  const ports = chaosPorts(settings.basePort);
  const secrets = secretsIn(settings.stateDir);
  return {
    settings,
    ports,
    secrets,
    trustFile,
    codeDirs: new Map(),
    dependencyUrls: storeUrls(ports, secrets),
  };
}

/** URLs of the administrators. PostgreSQL has a stable address, which always leads to the primary. */
function storeUrls(ports: ChaosPorts, secrets: Secrets): ServiceContext['dependencyUrls'] {
  const [anyService] = ports.postgresPorts;
  const [redis] = ports.redisServers;
  const [broker] = ports.brokers;
  return {
    postgres: `postgres://suite:${secrets.postgresPassword}@127.0.0.1:${anyService}/postgres`,
    redis: `redis://default:${secrets.redisPassword}@127.0.0.1:${redis}/0`,
    rabbitmq: `amqp://suite:${secrets.rabbitmqPassword}@127.0.0.1:${broker}/%2F`,
  };
}

/** Port of a service's own address of its database. Each service has one, so that one link can be cut. */
export function postgresPortOf(service: ServiceName, { ports }: ChaosContext): number {
  return ports.postgresPorts[serviceNames.indexOf(service) + 1] ?? 0;
}

/** URL of a service's database, which leads to wherever its name does. */
export function databaseUrlOf(service: ServiceName, context: ChaosContext): string {
  const url = new URL(serviceEnvironment(service, context).DATABASE_URL ?? '');
  url.port = String(postgresPortOf(service, context));
  return url.href;
}

/** The same for an administrator. */
export function adminUrlOf(service: ServiceName, context: ChaosContext): string {
  const url = new URL(databaseUrlOf(service, context));
  const { username, password } = new URL(context.dependencyUrls.postgres);
  return Object.assign(url, { username, password }).href;
}

/** Loopback addresses, which stand for that of a machine. */
export interface ReplicaPlace {
  readonly address: string;
  readonly internal: string;
}

/** Environment of a replica: lists of brokers and Sentinels, and the name of its database. */
export function replicaEnvironment(
  service: ServiceName,
  { address, internal }: ReplicaPlace,
  context: ChaosContext,
): Record<string, string> {
  const { ports } = context;
  return {
    ...serviceEnvironment(service, context),
    HOST: address,
    INTERNAL_HOST: internal,
    DATABASE_URL: databaseUrlOf(service, context),
    RABBITMQ_URL: brokerUrls(storeUserUrl('rabbitmq', service, context), ports),
    REDIS_SENTINELS: ports.sentinels.map((port) => `127.0.0.1:${port}`).join(','),
    JWKS_URL: `https://localhost:${ports.gateway}/api/auth/jwks`,
  };
}

function brokerUrls(one: string, ports: ChaosPorts): string {
  return ports.brokers
    .map((port) => {
      const url = new URL(one);
      url.port = String(port);
      return url.href;
    })
    .join(',');
}
