import { z } from 'zod';
import { readSecretFiles, secret } from './secret-files.js';
import { brokerUrls, redisSettings } from './store-addresses.js';
import { tracingSettings } from './tracing-settings.js';

/** Exit status of a process whose configuration is invalid: EX_CONFIG of sysexits.h. */
export const exitCodeConfig = 78;

/** Nest's token for the settings of a service. */
export const CONFIG = Symbol('CONFIG');

const port = z.coerce.number().int().min(0).max(65_535);

/**
 * Settings of every service. Apps extend them; docs/reference/configuration.md is generated from the
 * descriptions.
 */
export const serviceSettings = z.object({
  HOST: z.string().default('0.0.0.0').describe('Address to listen on'),
  PORT: port.describe('Port of the public HTTP interface'),
  INTERNAL_PORT: port.describe(
    'Port of the metrics and message status endpoints; the gateway does not route it',
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

/** The size of a connection pool, as a setting. */
export function poolSize(defaultValue: number) {
  return integerSetting({ min: 1, max: 200, default: defaultValue });
}

/** A URL to which paths are appended. */
function publicUrl() {
  return z.url({ protocol: /^https?$/ }).refine((text) => !text.endsWith('/'), 'must not end with a slash');
}

/** `true` or `false`, nothing else. */
export function flag(defaultValue = false) {
  return z
    .enum(['true', 'false'])
    .default(defaultValue ? 'true' : 'false')
    .transform((text) => text === 'true');
}

/** A whole number within bounds, as a setting. */
export function integerSetting(options: { min: number; max: number; default: number }) {
  return z.coerce.number().int().min(options.min).max(options.max).default(options.default);
}

const maxDelayMs = 7 * 24 * 3_600_000;

/** Delays in milliseconds, separated by commas: at most 50 of at most 7 days. */
export function delaysSetting(defaultMs: readonly number[]) {
  return z
    .string()
    .regex(/^\d{1,9}(,\d{1,9}){0,49}$/, 'must be milliseconds, separated by commas')
    .default(defaultMs.join(','))
    .transform((text) => text.split(',').map(Number))
    .refine(
      (delays) => delays.every((delay) => delay <= maxDelayMs),
      'must not contain a delay of more than 7 days',
    );
}

/** Prefix of keys, for suites that share a Redis. */
export function keyPrefix(defaultValue: string) {
  return z
    .string()
    .regex(/^[\w-]{1,40}$/)
    .default(defaultValue);
}

/** Keys for AES-256-GCM in base64, newest first. The first one seals, all can open (`SecretBox`). */
export function keyring() {
  return z
    .string()
    .transform((text) => text.split(',').map((key) => Buffer.from(key, 'base64')))
    .refine(
      (keys) => keys.every((key) => key.length === 32),
      'must be 32 bytes in base64, or several such keys separated by commas',
    )
    .refine(
      (keys) => keys.every((key) => key.some((byte) => byte !== key[0])),
      'must be random; 32 equal bytes are not accepted',
    );
}

/**
 * Reads the settings, typed and frozen. A secret may be in a file (`NAME_FILE`). An invalid setting stops the
 * start; its name is printed, never its value.
 */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<z.output<Schema>> {
  const { values, problems } = readSecretFiles(schema, environment);
  const settings = {
    ...Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== '')),
    ...values,
  };
  if (problems.length > 0) {
    for (const problem of problems) process.stderr.write(`${problem}\n`);
    process.exit(exitCodeConfig);
  }
  const result = schema.safeParse(settings);
  if (result.success) return Object.freeze(result.data);
  for (const issue of result.error.issues) {
    const name = issue.path.join('.');
    const isMissing = !(name in settings);
    // Only a refinement says more about a missing setting: when it is required.
    const reason = isMissing && issue.code !== 'custom' ? '' : `: ${issue.message}`;
    process.stderr.write(`The setting ${name} ${isMissing ? 'is missing' : 'is invalid'}${reason}\n`);
  }
  process.exit(exitCodeConfig);
}
