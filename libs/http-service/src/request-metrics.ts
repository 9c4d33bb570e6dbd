import { Histogram } from '@fulfilment/runtime';
import type { IncomingMessage, ServerResponse } from 'node:http';

const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the headers of a request to the end of the response, by route (none: unknown path). The status is aborted if the client disconnected before.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
});
const rawRoutes = new WeakMap<IncomingMessage, string>();

/**
 * Sets the route label of a request that Express does not handle.
 * @param route one of a few, never with an id
 */
export function nameRoute(request: IncomingMessage, route: string): void {
  rawRoutes.set(request, route);
}

export function measureRequest(request: IncomingMessage, response: ServerResponse): void {
  const startedAtMs = performance.now();
  response.once('close', () => {
    const status = response.writableFinished ? String(response.statusCode) : 'aborted';
    const labels = { method: request.method ?? '', route: routeOf(request), status };
    duration.observe(labels, (performance.now() - startedAtMs) / 1000);
  });
}

/** The declared path of the route that handled the request. */
function routeOf(request: IncomingMessage): string {
  const rawRoute = rawRoutes.get(request);
  if (rawRoute !== undefined) return rawRoute;
  const route: unknown = Reflect.get(request, 'route');
  const path: unknown = typeof route === 'object' && route !== null ? Reflect.get(route, 'path') : undefined;
  if (typeof path !== 'string' || path.includes('*')) return 'none'; // Nest's catch-all route
  return `${String(Reflect.get(request, 'baseUrl'))}${path}`;
}
