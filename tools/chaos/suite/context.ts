import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import { operatorAccess } from '../../dev/services/addresses.ts';
import { portsFrom } from '../../dev/ports.ts';
import { type Secrets, readOrCreateSecrets } from '../../dev/state/secrets.ts';
import { serviceEnvironment, type ServiceContext, storeUserUrl } from '../../dev/services/services.ts';
import type { Settings } from '../../dev/settings.ts';
import type { OperatorAccess } from '../../ops/operator-access.ts';

/** Replicas of each service. */
export const replicaNumbers = [1, 2] as const;
export type ReplicaNumber = (typeof replicaNumbers)[number];

/** Ports of the suite, and of the replicas and standbys of its stores. */
export function chaosPorts(base: number) {
  const portsAt = (offset: number, count: number): number[] =>
    Array.from({ length: count }, (_, index) => base + offset + index);
  return {
    ...portsFrom(base),
    postgresServers: portsAt(31, 3), // the third is restored from a backup
    postgresReplication: base + 34, // stable address from which a standby replicates
    // Stable addresses of the primary: for administrators, then for each service.
    postgresPorts: portsAt(35, serviceNames.length + 1),
    redisServers: portsAt(41, 2),
    sentinels: portsAt(44, 3),
    brokers: portsAt(51, 3),
    brokerDistribution: portsAt(54, 3),
  };
}
type ChaosPorts = ReturnType<typeof chaosPorts>;

/** Addresses and settings that the parts of the suite share. */
export interface ChaosContext extends ServiceContext {
  readonly ports: ChaosPorts;
}

export function chaosContext(settings: Settings, trustFile: string): ChaosContext {
  const ports = chaosPorts(settings.basePort);
  const secrets = readOrCreateSecrets(settings.stateDir);
  return {
    settings,
    ports,
    secrets,
    trustFile,
    codeDirs: new Map(),
    dependencyUrls: storeUrls(ports, secrets),
  };
}

/** URLs of the stores for an administrator. PostgreSQL has a stable address, which leads to the primary. */
function storeUrls(ports: ChaosPorts, secrets: Secrets): ServiceContext['dependencyUrls'] {
  const [primaryPort] = ports.postgresPorts;
  const [redis] = ports.redisServers;
  const [broker] = ports.brokers;
  return {
    postgres: `postgres://suite:${secrets.postgresPassword}@127.0.0.1:${primaryPort}/postgres`,
    redis: `redis://default:${secrets.redisPassword}@127.0.0.1:${redis}/0`,
    rabbitmq: `amqp://suite:${secrets.rabbitmqPassword}@127.0.0.1:${broker}/%2F`,
  };
}

/** Port of the stable address by which a service reaches its database. */
export function postgresPortOf(service: ServiceName, { ports }: ChaosContext): number {
  return ports.postgresPorts[serviceNames.indexOf(service) + 1] ?? 0;
}

/** URL of a service's database by its stable address. */
function databaseUrlOf(service: ServiceName, context: ChaosContext): string {
  const url = new URL(serviceEnvironment(service, context).DATABASE_URL ?? '');
  url.port = String(postgresPortOf(service, context));
  return url.href;
}

/** URL of a service's database for an administrator, by its stable address. */
export function adminUrlOf(service: ServiceName, context: ChaosContext): string {
  const url = new URL(databaseUrlOf(service, context));
  const { username, password } = new URL(context.dependencyUrls.postgres);
  return Object.assign(url, { username, password }).href;
}

/** Access of operator commands, by the stable address of each database. */
export function operatorAccessOf(context: ChaosContext): OperatorAccess {
  const access = operatorAccess(context);
  return {
    ...access,
    environments: Object.fromEntries(
      serviceNames.map((name) => [
        name,
        { ...access.environments[name], DATABASE_URL: databaseUrlOf(name, context) },
      ]),
    ),
  };
}

/** Loopback addresses of a replica, as if it ran on a separate machine. */
interface ReplicaAddresses {
  readonly address: string;
  /** Address of its internal port. */
  readonly internal: string;
}

/** Environment of a replica, with the addresses of all brokers and Sentinels. */
export function replicaEnvironment(
  service: ServiceName,
  { address, internal }: ReplicaAddresses,
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

/** Repeats the URL of one broker with the port of each broker, separated by commas. */
function brokerUrls(oneUrl: string, ports: ChaosPorts): string {
  return ports.brokers
    .map((port) => {
      const url = new URL(oneUrl);
      url.port = String(port);
      return url.href;
    })
    .join(',');
}
