import { z } from 'zod';
import { secret } from './secret-files.js';
import { poolSize, publicUrl } from './setting-types.js';
import { brokerUrls, redisSettings } from './store-addresses.js';
import { tracingSettings } from './tracing-settings.js';

/** Nest's token for the settings of a service. */
export const CONFIG = Symbol('CONFIG');

const port = z.coerce.number().int().min(0).max(65_535);

/** Settings of every service, which apps extend. docs/reference/configuration.md lists the descriptions. */
export const serviceSettings = z.object({
  HOST: z.string().default('0.0.0.0').describe('Address to listen on'),
  PORT: port.describe('Port of the public HTTP interface'),
  INTERNAL_PORT: port.describe(
    'Port of the metrics and message status endpoints; the gateway sends no requests to it',
  ),
  INTERNAL_HOST: z
    .string()
    .default('127.0.0.1')
    .describe(
      'Address to listen on for the metrics and message status endpoints, which need no authentication',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe('Minimum level that is logged'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .meta(secret)
    .describe("PostgreSQL URL of the service's own database; add `?sslmode=verify-full` for TLS"),
  DATABASE_DIRECT_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .meta(secret)
    .describe(
      'PostgreSQL URL for the programs `migrate` and `cli` if `DATABASE_URL` leads to a connection pooler; by default `DATABASE_URL`',
    ),
  DATABASE_POOL_SIZE: poolSize(7).describe('Maximum number of PostgreSQL connections for HTTP requests'),
  DATABASE_BACKGROUND_POOL_SIZE: poolSize(4).describe(
    'Maximum number of PostgreSQL connections for message consumers, the outbox relay, background loops and jobs',
  ),
  ...redisSettings.shape,
  RABBITMQ_URL: brokerUrls
    .meta(secret)
    .describe(
      "RabbitMQ URL with the service's own user; `amqps:` for TLS. URLs of several nodes of a cluster are separated by commas",
    ),
  RABBITMQ_NAMESPACE: z
    .string()
    .regex(/^[\w-]{1,40}$/)
    .default('suite')
    .describe('Prefix of the names of exchanges and queues, for suites that share a broker'),
  BASE_URL: publicUrl().describe('Public URL of the gateway, without a trailing slash'),
  AUTH_URL: publicUrl().describe('Public URL of the authorization server, without a trailing slash'),
  ...tracingSettings.shape,
});
export type ServiceSettings = z.infer<typeof serviceSettings>;
