import type { Database } from '@fulfilment/database';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { Outbox } from '@fulfilment/messaging';
import {
  type Clock,
  createLogger,
  hasLoopbackHost,
  type RedisSettings,
  SecretBox,
  systemClock,
} from '@fulfilment/runtime';
import { type BrokerSettings, type CommandContext, readSecret } from '@fulfilment/service-host/operator';
import { once } from 'node:events';
import type { AuthServerSettings } from '../config.js';
import { DenyList, type PublishRevokedTokens } from '../revocation/deny-list.js';

/** Dependencies of the operator commands. */
export interface OperatorContext {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly publishRevoked: PublishRevokedTokens;
  readonly broker: BrokerSettings;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  /** Reads a password from a prompt or from standard input. */
  readonly readSecret: () => Promise<string>;
  /**
   * Whether AUTH_URL has a loopback host: then passwords on the command line and redirect URIs without https
   * are allowed.
   */
  readonly hasLoopbackUrl: boolean;
}

type OperatorSettings = BrokerSettings &
  RedisSettings &
  Pick<AuthServerSettings, 'DATABASE_URL' | 'KEY_ENCRYPTION_KEY'> & {
    readonly AUTH_URL?: string | undefined;
  };

const redisTimeoutMs = 2_000;

export function operatorContext(context: CommandContext<OperatorSettings>): OperatorContext {
  const { database, settings } = context;
  return {
    database,
    outbox: new Outbox(),
    publishRevoked: publishByRedis(context),
    broker: settings,
    secrets: new SecretBox(settings.KEY_ENCRYPTION_KEY),
    clock: systemClock,
    hasLoopbackUrl: settings.AUTH_URL !== undefined && hasLoopbackHost(settings.AUTH_URL),
    readSecret: () => readSecret('Password'),
  };
}

/**
 * Connects to Redis only when tokens were revoked. If Redis is unavailable, the running service publishes
 * them later.
 */
function publishByRedis({
  database,
  settings,
  atEnd,
}: CommandContext<OperatorSettings>): PublishRevokedTokens {
  let opening: Promise<DenyList> | undefined;
  const open = async (): Promise<DenyList> => {
    const logger = createLogger('auth-server cli', 'silent'); // standard output is for the result only
    const redis = new RedisConnection(settings, logger, { commandTimeoutMs: redisTimeoutMs });
    atEnd(() => redis.stop());
    const denyList = new DenyList(database, redis, logger);
    await once(redis.client, 'ready', { signal: AbortSignal.timeout(redisTimeoutMs) }).catch(() => undefined);
    return denyList;
  };
  return async (tokens) => {
    if (tokens.length === 0) return;
    opening ??= open();
    await (await opening).publish(tokens);
  };
}
