import { DtoPipe, ErrorEnvelopeFilter, toErrorResponse, ValidationFailed } from '@fulfilment/error-envelope';
import { type Logger, nestLogger } from '@fulfilment/runtime';
import { type CanActivate, type DynamicModule, NotFoundException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import express, { type Request, type Response } from 'express';
import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AnswerInterceptor } from './answer.js';
import { type Ahead, putAheadOfExpress } from './ahead-of-express.js';
import { decodablePath } from './decodable-path.js';
import {
  answerUnderWay,
  endConnectionWhenClosing,
  endSilentConnectionsWhenClosing,
} from './ended-connections.js';
import { healthRoutes, type ReadinessChecks, sharedReadiness } from './health.js';
import { inRequestContext } from './request-id.js';
import { measureRequest } from './request-metrics.js';

const keepAliveMs = 75_000; // longer than the gateway keeps its connections, so it never sends on one we are closing
const maxHeaderWaitMs = 80_000;

export interface HttpOptions {
  readonly module: DynamicModule;
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
  /** First path segment of the service's routes, as the gateway passes it on. */
  readonly prefix?: string;
  readonly readiness: ReadinessChecks;
  /** Guards of every route, in order. Asked for once the module is made. */
  readonly guards?: (app: NestExpressApplication) => readonly CanActivate[];
  /** Whether browsers of any origin may call, without credentials; true by default. Pages that people see say false. */
  readonly anyOrigin?: boolean;
  /** What is answered without Express. */
  readonly ahead?: (app: NestExpressApplication) => Ahead;
  /** What stands before Nest's routes. */
  readonly before?: (app: NestExpressApplication) => void;
}

/**
 * Opens the public HTTP port at once; readiness says 503 until every dependency is there. Answers what goes wrong in the
 * error envelope, gives each request its id, and allows browsers of any origin without credentials.
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
  aroundEveryRequest(app.getHttpServer(), options.ahead?.(app));
  if (options.anyOrigin ?? true) allowAnyOrigin(app); // before every route, so that each has preflights
  const findFailedChecks = sharedReadiness(options.readiness);
  for (const path of new Set(['/health', `/${options.prefix ?? ''}/health`.replace('//', '/')])) {
    app.use(path, healthRoutes(options.readiness, findFailedChecks));
  }
  options.before?.(app);
  if (options.prefix !== undefined) app.setGlobalPrefix(options.prefix);
  app.useGlobalGuards(...(options.guards?.(app) ?? []));
  app.useGlobalInterceptors(new AnswerInterceptor());
  app.useGlobalPipes(new DtoPipe());
  app.useGlobalFilters(
    new ErrorEnvelopeFilter((error) => logger.error({ error }, 'A request ended in an error of ours.')),
  );
  await app.init();
  app.use(answerNotFound); // Nest answers for what lies below the prefix; this is for all else
  const server = await app.listen(options.port, options.host);
  server.keepAliveTimeout = keepAliveMs;
  server.headersTimeout = maxHeaderWaitMs;
  server.on('clientError', answerNoHttp);
  logger.info({ port: options.port }, 'Listening.');
  return app;
}

function aroundEveryRequest(server: Server, ahead: Ahead | undefined): void {
  putAheadOfExpress(server, (request, response, express) => {
    endConnectionWhenClosing(server, response);
    measureRequest(request, response);
    request.url = decodablePath(request.url ?? '/');
    inRequestContext(request, response, () => {
      if (ahead === undefined) express();
      else ahead(request, response, express);
    });
  });
}

/** Express takes its routing settings when its router is made, which Nest does at once. */
function expressApp() {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', 1); // the gateway writes X-Forwarded-For anew
  app.set('query parser', 'simple');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  onlyWithEntityTag(app.request);
  return app;
}

/** `If-None-Match: *` would make Express send 304 for every response, also where there is no ETag to have (RFC 9110 §13.1.2). */
function onlyWithEntityTag(request: express.Request): void {
  const isFresh = Reflect.getOwnPropertyDescriptor(express.request, 'fresh')?.get;
  Object.defineProperty(request, 'fresh', {
    configurable: true,
    get(this: express.Request): boolean {
      return this.res?.hasHeader('ETag') === true && isFresh?.call(this) === true;
    },
  });
}

function answerNotFound(_request: Request, response: Response): void {
  const { status, body } = toErrorResponse(new NotFoundException());
  response.status(status).json(body);
}

/** What Node's parser does not take for HTTP: an unknown method, a broken or too large header, one that never ends. No request was made of it. */
function answerNoHttp(error: Error, socket: Duplex): void {
  if (!socket.writable || answerUnderWay(socket) !== undefined) {
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
