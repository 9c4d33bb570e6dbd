import { NotFound, toErrorResponse } from '@fulfilment/error-envelope';
import {
  CONFIG,
  inContext,
  LOGGER,
  type Logger,
  nestLogger,
  type ServiceSettings,
} from '@fulfilment/runtime';
import type { ExpressAdapter, NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import type { Server } from 'node:http';
import { type RawHandler, handleBeforeExpress } from './server/before-express.js';
import { escapeUndecodablePath } from './server/escape-undecodable-path.js';
import { DirectRoutes } from './server/direct-routes.js';
import { endConnectionWhenClosing, limitConnectionsWhenClosing } from './server/close-connections.js';
import { createExpressApp } from './server/express-app.js';
import { healthRoutes, READINESS_CHECKS, type ReadinessChecks, sharedReadiness } from './server/health.js';
import { respondToInvalidHttp } from './server/invalid-http.js';
import { createRequestContext } from './server/request-context.js';
import { measureRequest } from './server/request-metrics.js';
import { ServiceAdapter } from './server/service-adapter.js';

// Longer than the gateway's, so that the gateway closes idle connections, and never sends on a closed one.
const keepAliveMs = 75_000;
// Longer than `keepAliveMs`, since it also limits the wait for the first request of a connection.
const maxHeaderWaitMs = 80_000;

/** Nest's token for the HTTP options of a service. */
export const HTTP_OPTIONS = Symbol('HTTP_OPTIONS');

export interface HttpOptions {
  /** First path segment of the service's routes. */
  readonly prefix?: string;
  /** Readiness checks in addition to `READINESS_CHECKS`. */
  readonly readiness?: ReadinessChecks;
  /**
   * Whether browsers of any origin may call, without credentials. Default: true. auth-server needs false, for
   * its pages; oidc-provider decides which origins may call its endpoints.
   */
  readonly anyOrigin?: boolean;
  /**
   * Handles requests before Express, or passes them on to it. With `routes`, requests for Nest's routes skip
   * all Express middleware, including that of `beforeRoutes`. Default: Express handles all requests.
   */
  readonly beforeExpress?: RawHandler | 'routes';
  /** Adds Express middleware before Nest's routes. */
  readonly beforeRoutes?: (app: NestExpressApplication) => void;
}

const applicationOptions = { bodyParser: false, abortOnError: false, logger: false } as const;

/**
 * Opens the public HTTP port without waiting for dependencies; readiness is 503 until all are available.
 * Gives each request its id, measures it, and closes connections at the shutdown. The address, the logger and
 * the `HttpOptions` come from the application's providers.
 * @param create creates the application, for example with Nest's `NestFactory.create`
 */
export async function startHttp(
  create: (
    adapter: ExpressAdapter,
    options: typeof applicationOptions,
  ) => NestExpressApplication | Promise<NestExpressApplication>,
): Promise<NestExpressApplication> {
  const expressApp = createExpressApp();
  const app = await create(new ServiceAdapter(expressApp), applicationOptions);
  const logger: Logger = app.get(LOGGER);
  const { HOST: host, PORT: port }: ServiceSettings = app.get(CONFIG);
  const {
    prefix,
    beforeExpress,
    anyOrigin = true,
    beforeRoutes,
    readiness: furtherChecks,
  }: HttpOptions = app.get(HTTP_OPTIONS);
  app.useLogger(nestLogger(logger));
  limitConnectionsWhenClosing(app.getHttpServer());
  const directRoutes = new DirectRoutes(anyOrigin ? corsHeaders : {});
  handleEveryRequest(app.getHttpServer(), beforeExpress === 'routes' ? directRoutes.handle : beforeExpress);
  if (anyOrigin) allowAnyOrigin(app); // before every route, so that each has preflights
  const readiness: ReadinessChecks = { ...app.get<ReadinessChecks>(READINESS_CHECKS), ...furtherChecks };
  const findFailedChecks = sharedReadiness(readiness);
  app.use('/health', healthRoutes(readiness, findFailedChecks));
  if (prefix !== undefined) app.use(`/${prefix}/health`, healthRoutes(readiness, findFailedChecks));
  beforeRoutes?.(app);
  if (prefix !== undefined) app.setGlobalPrefix(prefix);
  await app.init();
  if (beforeExpress === 'routes') directRoutes.add(expressApp);
  app.use(respondNotFound); // for paths outside the prefix; Nest responds below it
  const server = await app.listen(port, host);
  server.keepAliveTimeout = keepAliveMs;
  server.headersTimeout = maxHeaderWaitMs;
  server.on('clientError', respondToInvalidHttp);
  logger.info({ port }, 'Listening.');
  return app;
}

function handleEveryRequest(server: Server, rawHandler: RawHandler | undefined): void {
  handleBeforeExpress(server, (request, response, passToExpress) => {
    endConnectionWhenClosing(server, response);
    request.url = escapeUndecodablePath(request.url ?? '/');
    const context = createRequestContext(request, response);
    measureRequest(request, response, context.span);
    inContext(context, () => {
      if (rawHandler === undefined) passToExpress();
      else rawHandler(request, response, passToExpress);
    });
  });
}

function respondNotFound(_request: Request, response: Response): void {
  const { status, body } = toErrorResponse(new NotFound('path or method'));
  response.status(status).json(body);
}

const preflightCacheSeconds = 86_400;
const exposedHeaders = [
  'X-Request-Id',
  'Location',
  'ETag',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotent-Replayed',
  'Repr-Digest',
  'WWW-Authenticate',
];
/** The headers that `allowAnyOrigin` sends, except for preflights. */
const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposedHeaders.join(','),
};

function allowAnyOrigin(app: NestExpressApplication): void {
  app.enableCors({ origin: '*', exposedHeaders, maxAge: preflightCacheSeconds });
}
