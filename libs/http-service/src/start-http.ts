import { DtoPipe, ErrorEnvelopeFilter, toErrorResponse, ValidationFailed } from '@fulfilment/error-envelope';
import { type Logger, nestLogger } from '@fulfilment/runtime';
import { type CanActivate, type DynamicModule, NotFoundException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import express, { type Request, type Response } from 'express';
import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ResponseHeadersInterceptor } from './response-with-headers.js';
import { type RawHandler, handleBeforeExpress } from './raw-http.js';
import { decodablePath } from './decodable-path.js';
import {
  currentResponse,
  endConnectionWhenClosing,
  endSilentConnectionsWhenClosing,
} from './close-connections.js';
import { healthRoutes, type ReadinessChecks, sharedReadiness } from './health.js';
import { inRequestContext } from './request-id.js';
import { measureRequest } from './request-metrics.js';

// Longer than the gateway's, so that it never sends on a connection we are closing.
const keepAliveMs = 75_000;
const maxHeaderWaitMs = 80_000;

export interface HttpOptions {
  readonly module: DynamicModule;
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
  /** First path segment of the service's routes. */
  readonly prefix?: string;
  readonly readiness: ReadinessChecks;
  /** Guards of every route, in order. Called after the module is created. */
  readonly guards?: (app: NestExpressApplication) => readonly CanActivate[];
  /**
   * Whether browsers of any origin may call, without credentials; true by default. Pages that people see say
   * false.
   */
  readonly anyOrigin?: boolean;
  /** Handles requests before Express. */
  readonly rawHandler?: (app: NestExpressApplication) => RawHandler;
  /** Adds Express middleware before Nest's routes. */
  readonly beforeRoutes?: (app: NestExpressApplication) => void;
}

/**
 * Opens the public HTTP port immediately; readiness is 503 until every dependency is available. Responds to
 * errors with the error envelope, gives each request its id, and allows browsers of any origin without
 * credentials.
 */
export async function startHttp(options: HttpOptions): Promise<NestExpressApplication> {
  const { logger } = options;
  const app = await NestFactory.create<NestExpressApplication>(
    options.module,
    new ExpressAdapter(expressApp()),
    {
      logger: nestLogger(logger),
      bodyParser: false,
      abortOnError: false,
    },
  );
  endSilentConnectionsWhenClosing(app.getHttpServer());
  handleEveryRequest(app.getHttpServer(), options.rawHandler?.(app));
  if (options.anyOrigin ?? true) allowAnyOrigin(app); // before every route, so that each has preflights
  const findFailedChecks = sharedReadiness(options.readiness);
  for (const path of new Set(['/health', `/${options.prefix ?? ''}/health`.replace('//', '/')])) {
    app.use(path, healthRoutes(options.readiness, findFailedChecks));
  }
  options.beforeRoutes?.(app);
  if (options.prefix !== undefined) app.setGlobalPrefix(options.prefix);
  app.useGlobalGuards(...(options.guards?.(app) ?? []));
  app.useGlobalInterceptors(new ResponseHeadersInterceptor());
  app.useGlobalPipes(new DtoPipe());
  app.useGlobalFilters(
    new ErrorEnvelopeFilter((error) => logger.error({ error }, 'A request failed with an unexpected error.')),
  );
  await app.init();
  app.use(respondNotFound); // for paths outside the prefix; Nest responds below it
  const server = await app.listen(options.port, options.host);
  server.keepAliveTimeout = keepAliveMs;
  server.headersTimeout = maxHeaderWaitMs;
  server.on('clientError', respondToInvalidHttp);
  logger.info({ port: options.port }, 'Listening.');
  return app;
}

function handleEveryRequest(server: Server, rawHandler: RawHandler | undefined): void {
  handleBeforeExpress(server, (request, response, express) => {
    endConnectionWhenClosing(server, response);
    measureRequest(request, response);
    request.url = decodablePath(request.url ?? '/');
    inRequestContext(request, response, () => {
      if (rawHandler === undefined) express();
      else rawHandler(request, response, express);
    });
  });
}

/** Express reads its routing settings when its router is created, which Nest does immediately. */
function expressApp() {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', 1); // the gateway overwrites X-Forwarded-For
  app.set('query parser', 'simple');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  onlyWithEntityTag(app.request);
  return app;
}

/** With `If-None-Match: *` Express would send 304 also for responses without an ETag (RFC 9110 §13.1.2). */
function onlyWithEntityTag(request: express.Request): void {
  const isFresh = Reflect.getOwnPropertyDescriptor(express.request, 'fresh')?.get;
  Object.defineProperty(request, 'fresh', {
    configurable: true,
    get(this: express.Request): boolean {
      return this.res?.hasHeader('ETag') === true && isFresh?.call(this) === true;
    },
  });
}

function respondNotFound(_request: Request, response: Response): void {
  const { status, body } = toErrorResponse(new NotFoundException());
  response.status(status).json(body);
}

/**
 * For input that Node's parser rejects: an unknown method, or a malformed, too large or incomplete header.
 */
function respondToInvalidHttp(error: Error, socket: Duplex): void {
  if (!socket.writable || currentResponse(socket) !== undefined) {
    socket.destroy();
    return;
  }
  const status =
    { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[String(Reflect.get(error, 'code'))] ?? 400;
  const { body } = toErrorResponse(
    new ValidationFailed([{ field: 'request', reason: 'malformed' }], 'The request is not valid HTTP.'),
  );
  const name = STATUS_CODES[status] ?? '';
  const text = JSON.stringify({ ...body, statusCode: status, error: name });
  socket.end(
    [
      `HTTP/1.1 ${status} ${name}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      `X-Request-Id: ${randomUUID()}`,
      'Connection: close',
      '',
      text,
    ].join('\r\n'),
  );
}

function allowAnyOrigin(app: NestExpressApplication): void {
  app.enableCors({
    origin: '*',
    exposedHeaders: [
      'X-Request-Id',
      'Location',
      'ETag',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'Idempotent-Replayed',
      'WWW-Authenticate',
    ],
    maxAge: 86_400,
  });
}
