import { Attached, type Span, TraceHistogram } from '@fulfilment/runtime';
import type { IncomingMessage, ServerResponse } from 'node:http';

const duration = new TraceHistogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the headers of a request to the end of the response, by route (none: unknown path). The status is aborted if the client disconnected before.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
});
const namedRoutes = new Attached<string>();

/** Sets the route label of a request that Express does not handle. @param route one of a few, without ids */
export function nameRoute(request: IncomingMessage, route: string): void {
  namedRoutes.set(request, route);
}

/** Measures a request until its response is closed, and then ends its span, if that is recorded. */
export function measureRequest(request: IncomingMessage, response: ServerResponse, span?: Span): void {
  const startedAtMs = performance.now();
  response.once('close', () => {
    const status = response.writableFinished ? String(response.statusCode) : 'aborted';
    const labels = { method: request.method ?? '', route: routeOf(request), status };
    duration.observeIn(span, labels, (performance.now() - startedAtMs) / 1000);
    if (span !== undefined) endRequestSpan(span, labels);
  });
}

function endRequestSpan(
  span: Span,
  { method, route, status }: { readonly method: string; readonly route: string; readonly status: string },
): void {
  if (route !== 'none') {
    span.name = `${method} ${route}`;
    span.set({ 'http.route': route });
  }
  if (status !== 'aborted') span.set({ 'http.response.status_code': Number(status) });
  if (status === 'aborted' || status.startsWith('5')) span.fail(status);
  span.end();
}

/** The declared path of the route that handled the request, or `none`. */
function routeOf(request: IncomingMessage): string {
  const named = namedRoutes.get(request);
  if (named !== undefined) return named;
  const route: unknown = Reflect.get(request, 'route');
  const path: unknown = typeof route === 'object' && route !== null ? Reflect.get(route, 'path') : undefined;
  if (typeof path !== 'string' || path.includes('*')) return 'none'; // Nest's catch-all route
  return `${String(Reflect.get(request, 'baseUrl'))}${path}`;
}
