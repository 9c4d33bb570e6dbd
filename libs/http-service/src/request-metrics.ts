import { Histogram, metrics } from '@fulfilment/runtime';
import type { IncomingMessage, ServerResponse } from 'node:http';

const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'From the head of a request to the end of its answer, by route (none: a path nobody has); status is aborted when the caller went away before.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  registers: [metrics],
});
/** By their labels: finding one in the histogram costs more than adding to it. */
const series = new Map<string, { observe(seconds: number): void }>();
const routesAhead = new WeakMap<IncomingMessage, string>();

/** Names the route of a request that is answered ahead of Express. @param route one of few: never with an id in it */
export function nameRoute(request: IncomingMessage, route: string): void {
  routesAhead.set(request, route);
}

export function measureRequest(request: IncomingMessage, response: ServerResponse): void {
  const startedAtMs = performance.now();
  response.once('close', () => {
    const status = response.writableFinished ? String(response.statusCode) : 'aborted';
    seriesOf(request.method ?? '', routeOf(request), status).observe(
      (performance.now() - startedAtMs) / 1000,
    );
  });
}

function seriesOf(method: string, route: string, status: string): { observe(seconds: number): void } {
  const key = `${method} ${status} ${route}`;
  let known = series.get(key);
  if (known === undefined) {
    known = duration.labels(method, route, status);
    series.set(key, known);
  }
  return known;
}

/** Express keeps the route that answered, as it was declared. */
function routeOf(request: IncomingMessage): string {
  const ahead = routesAhead.get(request);
  if (ahead !== undefined) return ahead;
  const route: unknown = Reflect.get(request, 'route');
  const path: unknown = typeof route === 'object' && route !== null ? Reflect.get(route, 'path') : undefined;
  if (typeof path !== 'string' || path.includes('*')) return 'none'; // Nest has a route for all that nobody has
  return `${String(Reflect.get(request, 'baseUrl'))}${path}`;
}
