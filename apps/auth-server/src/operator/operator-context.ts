import type { Database } from '@fulfilment/database';
import { RedisConnection } from '@fulfilment/http-service';
import { Outbox } from '@fulfilment/messaging';
import { type Clock, createLogger, hasLoopbackHost, SecretBox, systemClock } from '@fulfilment/runtime';
import { type BrokerSettings, type CommandContext, readSecret } from '@fulfilment/service-host/operator';
import { once } from 'node:events';
import type { Config } from '../config.js';
import { DenyList, type TellRevoked } from '../revocation/deny-list.js';

/** What the operator's commands stand on. */
export interface OperatorContext {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly tell: TellRevoked;
  readonly broker: BrokerSettings;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  /** A password from a prompt or from standard input. */
  readonly readSecret: () => Promise<string>;
  /** Whether only this computer can reach the authorization server. */
  readonly development: boolean;
}

export type OperatorSettings = BrokerSettings &
  Pick<Config, 'DATABASE_URL' | 'REDIS_URL' | 'KEY_ENCRYPTION_KEY'> & {
    readonly AUTH_URL?: string | undefined;
  };

const redisWithinMs = 2_000;

export function operatorContext(site: CommandContext<OperatorSettings>): OperatorContext {
  return {
    database: site.database,
    outbox: new Outbox(),
    tell: tellByRedis(site),
    broker: site.settings,
    secrets: new SecretBox(site.settings.KEY_ENCRYPTION_KEY),
    clock: systemClock,
    development: site.settings.AUTH_URL !== undefined && hasLoopbackHost(site.settings.AUTH_URL),
    readSecret: () => readSecret('Password'),
  };
}

/** Redis is opened when there is something to tell. While it is away the running service tells, once Redis is back. */
function tellByRedis({ database, settings, atEnd }: CommandContext<OperatorSettings>): TellRevoked {
  let opening: Promise<DenyList> | undefined;
  const open = async (): Promise<DenyList> => {
    const logger = createLogger('auth-server operate', 'silent'); // standard output holds the answer only
    const redis = new RedisConnection(settings.REDIS_URL, logger);
    atEnd(() => redis.stop());
    const denyList = new DenyList(database, redis, logger);
    await once(redis.client, 'ready', { signal: AbortSignal.timeout(redisWithinMs) }).catch(() => undefined);
    return denyList;
  };
  return async (tokens) => {
    if (tokens.length === 0) return;
    opening ??= open();
    await (await opening).tell(tokens);
  };
}
