import { ServiceUnavailable } from '@fulfilment/error-envelope';
import {
  ApiModule,
  BodyLimit,
  IntegerField,
  type Caller,
  CurrentCaller,
  Public,
  RateLimit,
  READINESS_CHECKS,
  type ReadinessChecks,
  ResponseWithHeaders,
  RetryOnlyWithKey,
  Scopes,
  startHttp,
  TextField,
} from './index.js';
import { TokenVerifier } from './access/token-verifier.js';
import { RedisConnection } from './redis/redis.js';
import { apiSettings, operationQuotaSettings } from './settings.js';
import { CONFIG, createLogger, LOGGER } from '@fulfilment/runtime';
import { Body, Controller, Get, Global, Module, Param, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { randomInt } from 'node:crypto';
import { eventually, storeUrl, type TokenMaker, tokenMaker } from '@fulfilment/testing';

class NoteDto {
  @TextField({ max: 60, normalize: true }) title: string;
  @IntegerField(1, 1000) quantity: number;
}

@Controller('notes')
class NotesController {
  @Get()
  @Scopes('orders:read')
  list(@CurrentCaller() { subject, clientId, creatorId }: Caller) {
    return { subject, client: clientId, creator: creatorId ?? null };
  }

  @Get('quoted')
  @Scopes('shipping:read')
  @RateLimit('quotes')
  quoted() {
    return {};
  }

  @Get('open')
  @Public()
  open() {
    return { open: true };
  }

  @Get('open/:id')
  @Public()
  openOne(@Param('id') id: string) {
    return new ResponseWithHeaders({ id }, { 'X-Note': 'open' });
  }

  @Get('broken')
  @Public()
  broken() {
    throw new Error('password=hunter2');
  }

  @Post()
  @Scopes('orders:create')
  add(@Body() { title, quantity }: NoteDto) {
    return { title, quantity };
  }

  @Post('unavailable')
  @Scopes('orders:create')
  @RetryOnlyWithKey()
  addWhileUnavailable() {
    throw new ServiceUnavailable();
  }

  @Post('short')
  @Scopes('orders:create')
  @BodyLimit(1024)
  addShort(@Body() { title, quantity }: NoteDto) {
    return { title, quantity };
  }
}

@Global()
@Module({})
class ConnectionsModule {}

export interface SmallApiOptions {
  /** The fake authorization server of another small API, to accept the same tokens; by default a new one. */
  readonly authServer?: TokenMaker;
  readonly redisUrl?: string;
  readonly jwksUrl?: string;
  readonly readiness?: ReadinessChecks;
}

export interface SmallApi {
  readonly url: string;
  /** The fake authorization server whose tokens it accepts. */
  readonly authServer: TokenMaker;
  stop(): Promise<void>;
}

/**
 * Starts an API with the routes above. Requests to `notes/quoted` are limited to two per day, and those
 * without a valid token to five per day and network, so that no quota is refilled during a test.
 */
export async function smallApi(options: SmallApiOptions = {}): Promise<SmallApi> {
  const logger = createLogger('test', 'silent');
  const authServer = options.authServer ?? (await tokenMaker());
  const settings = settingsFor(authServer, options);
  const redis = new RedisConnection(
    settings,
    logger,
    // On a slow machine, the default timeout would sometimes let requests continue without Redis.
    options.redisUrl === undefined ? { commandTimeoutMs: 30_000 } : {},
  );
  if (options.redisUrl === undefined) await eventually(() => redis.client.status === 'ready');
  const providers = [
    { provide: CONFIG, useValue: settings },
    { provide: LOGGER, useValue: logger },
    { provide: RedisConnection, useValue: redis },
    { provide: READINESS_CHECKS, useValue: options.readiness ?? {} },
  ];
  const testing = await Test.createTestingModule({
    imports: [
      { module: ConnectionsModule, providers, exports: providers.map(({ provide }) => provide) },
      ApiModule.forRoot({ api: 'store', resourceName: 'Test API', scopes: ['orders:read'] }),
    ],
    controllers: [NotesController],
  }).compile();
  const app = await startHttp((...args) => testing.createNestApplication(...args));
  if (options.jwksUrl === undefined) {
    // The first read of the keys may exceed its time limit, after which the API responds with 503.
    const token = await authServer.token();
    const verifier = app.get(TokenVerifier, { strict: false });
    await eventually(() => verifier.verify(token).catch(() => undefined));
  }
  return {
    url: await app.getUrl(),
    authServer,
    stop: async () => {
      await app.close();
      await redis.stop();
      if (options.authServer === undefined) await authServer.stop();
    },
  };
}

function settingsFor(authServer: TokenMaker, { redisUrl, jwksUrl }: SmallApiOptions) {
  return apiSettings.extend(operationQuotaSettings).parse({
    HOST: '127.0.0.1',
    PORT: 0,
    INTERNAL_PORT: 0,
    DATABASE_URL: 'postgres://unused.example/none',
    REDIS_URL: redisUrl ?? storeUrl('TEST_REDIS_URL'),
    RABBITMQ_URL: 'amqp://unused.example',
    BASE_URL: authServer.baseUrl,
    AUTH_URL: authServer.authUrl,
    JWKS_URL: jwksUrl ?? authServer.jwksUrl,
    CURSOR_SECRET: 'a cursor secret of the tests, long enough',
    RATE_LIMIT_QUOTES: '2/86400',
    RATE_LIMIT_ANONYMOUS: '5/86400',
  });
}

/** Returns a random address, so that tests do not share an anonymous quota. */
export function freshAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
}
