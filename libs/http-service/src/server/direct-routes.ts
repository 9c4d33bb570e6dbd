import { toErrorResponse } from '@fulfilment/error-envelope';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonResponse, type RawHandler, sendRendered } from './before-express.js';

interface DirectRoute {
  /** The path as it is declared, for metrics. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly handle: RequestHandler;
}

/** Declared paths whose segments are texts or parameters. Express handles all others. */
const simpleDeclaredPath = /^(\/:?[\w.-]+)+$/;
/** Requested paths that need no parsing. Express handles all others. */
const simpleRequestedPath = /^[\w/.~%-]+$/;

/**
 * The routes of controllers, found by method and segments of the path. Express would try all of its routes
 * one after another, each with a regular expression (ADR 60).
 */
export class DirectRoutes {
  /** Routes by their method and number of segments. */
  private readonly byMethodAndLength = new Map<string, DirectRoute[]>();

  /** @param headers sent with every response of these routes */
  constructor(private readonly headers: Readonly<Record<string, string>>) {}

  /** Adds the routes of an application. The first route that matches handles a request. */
  add(app: Express): void {
    for (const { route } of app.router.stack) {
      const [layer, ...further] = route?.stack ?? [];
      if (route === undefined || layer === undefined || further.length > 0) continue;
      if (!simpleDeclaredPath.test(route.path)) continue;
      const direct = { path: route.path, segments: route.path.split('/'), handle: layer.handle };
      const key = `${layer.method.toUpperCase()} ${direct.segments.length}`;
      this.byMethodAndLength.set(key, [...(this.byMethodAndLength.get(key) ?? []), direct]);
    }
  }

  /** Handles a request for one of the routes. Passes other requests to Express. */
  readonly handle: RawHandler = (request, response, passToExpress) => {
    const { method, url = '' } = request;
    const end = url.indexOf('?');
    const path = end === -1 ? url : url.slice(0, end);
    const segments = path.split('/');
    const route = this.byMethodAndLength
      .get(`${method} ${segments.length}`)
      ?.find((candidate) => matches(candidate, segments));
    if (
      route === undefined ||
      !simpleRequestedPath.test(path) ||
      !hasExpressPrototype(request) ||
      !hasExpressPrototype(response)
    ) {
      passToExpress();
      return;
    }
    for (const [name, value] of Object.entries(this.headers)) response.setHeader(name, value);
    run(route, segments, { request, response, next: passToExpress });
  };
}

function matches({ segments }: DirectRoute, requested: readonly string[]): boolean {
  return segments.every((segment, index) =>
    segment.startsWith(':') ? requested[index] !== '' : requested[index] === segment,
  );
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly next: () => void;
}

/** Runs a route, after setting what Express would set. The path is decodable (escape-undecodable-path.ts). */
function run(route: DirectRoute, requested: readonly string[], { request, response, next }: Exchange): void {
  const params: Record<string, string> = {};
  for (const [index, segment] of route.segments.entries())
    if (segment.startsWith(':')) params[segment.slice(1)] = decodeURIComponent(requested[index] ?? '');
  request.res = response;
  request.params = params;
  request.route = route;
  request.baseUrl = '';
  request.originalUrl = request.url;
  response.locals = {};
  void Promise.resolve(route.handle(request, response, next)).catch((error: unknown) =>
    sendError(response, error),
  );
}

/** Responds to an error of Nest itself. Nest's filters respond to the errors of routes. */
function sendError(response: Response, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, body } = toErrorResponse(error);
  sendRendered(response, jsonResponse(status, headers, body));
}

/** `ServiceAdapter` makes requests and responses with Express's prototypes. */
function hasExpressPrototype(message: IncomingMessage): message is Request;
function hasExpressPrototype(message: ServerResponse): message is Response;
function hasExpressPrototype(message: object): boolean {
  return 'app' in message;
}
