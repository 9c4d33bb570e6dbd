import { z } from 'zod';
import { secret } from './secret-files.js';

/** A comma separates URLs only if a scheme follows: a password may contain commas. */
const betweenUrls = /,(?=\w+:\/\/)/;
const brokerUrl = z.url({ protocol: /^amqps?$/ });
const defaultSentinelPort = 26_379;
const sentinelAddress = /^(?<host>\[[\da-f:]+\]|[\w.-]+)(?::(?<port>\d{1,5}))?$/i;

/** URLs of the nodes of one RabbitMQ cluster, in one setting. */
export const brokerUrls = z.string().refine((setting) => brokerNodes(setting).every(isBrokerUrl), {
  error: 'must be an amqp: or amqps: URL, or those of several nodes separated by commas',
});

/** Returns the URL of each RabbitMQ node in the value of `RABBITMQ_URL`. */
export function brokerNodes(setting: string): string[] {
  return setting.split(betweenUrls);
}

function isBrokerUrl(url: string): boolean {
  return brokerUrl.safeParse(url).success && new URL(url).host !== '';
}

/** Settings of the address of Redis: its URL, or the Sentinels that name the primary. */
export const redisSettings = z.object({
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .meta(secret)
    .describe("Redis URL with the service's own user; `rediss:` for TLS"),
  REDIS_SENTINELS: z
    .string()
    .transform((text, context) => {
      const addresses = text.split(',').map(parseAddress);
      if (addresses.every((address) => address !== undefined)) return addresses;
      context.addIssue('must be host:port of each Sentinel, separated by commas');
      return z.NEVER;
    })
    .optional()
    .describe(
      'Addresses of the Sentinels, `host:port` separated by commas. The primary is then the one that they name, and the host of `REDIS_URL` is not used; with `rediss:`, connections to Sentinels use TLS too',
    ),
  REDIS_SENTINEL_MASTER: z
    .string()
    .regex(/^[\w.-]{1,100}$/)
    .optional()
    .describe('Name of the primary at the Sentinels; by default `mymaster`'),
  REDIS_SENTINEL_PASSWORD: z
    .string()
    .min(1)
    .optional()
    .meta(secret)
    .describe('Password of the Sentinels, if they have one'),
});
export type RedisSettings = z.infer<typeof redisSettings>;

function parseAddress(text: string) {
  const { host, port = String(defaultSentinelPort) } = sentinelAddress.exec(text.trim())?.groups ?? {};
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
