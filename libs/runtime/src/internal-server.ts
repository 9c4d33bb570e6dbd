import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { metrics, openMetrics, openMetricsType } from './metrics.js';
import { isTracing } from './tracing/tracer.js';

/** Returns the JSON body of a path of the internal port; undefined for 404. A rejection gives 503. */
export type InternalRoute = (path: string) => Promise<object | undefined>;

export interface InternalServer {
  close(): Promise<void>;
}

/** Serves `/metrics` and `routes` to operators: plain HTTP, no authentication, not routed by the gateway. */
export function startInternalServer(options: {
  host: string;
  port: number;
  routes?: readonly InternalRoute[];
}): Promise<InternalServer> {
  const server = createServer((request, response) => {
    serve(request, options.routes ?? [], response).catch(() => {
      response.writeHead(503).end();
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      resolve({
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}

async function serve(
  { url: path = '/', headers }: IncomingMessage,
  routes: readonly InternalRoute[],
  response: ServerResponse,
): Promise<void> {
  if (path === '/metrics') {
    // The classic format has no exemplars, and without tracing there are none.
    const wantsExemplars = isTracing() && headers.accept?.includes('application/openmetrics-text') === true;
    const text = await (wantsExemplars ? openMetrics() : metrics.metrics());
    response.writeHead(200, { 'content-type': wantsExemplars ? openMetricsType : metrics.contentType });
    response.end(text);
    return;
  }
  for (const route of routes) {
    const body = await route(path);
    if (body !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
  }
  response.writeHead(404).end();
}
