import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Logger } from './logger.js';
import { metrics, openMetrics, openMetricsType } from './metrics.js';
import { isTracing } from './tracing/tracer.js';

/** Returns the JSON body for a path of the internal port; undefined for 404. An error results in 503. */
export type InternalRoute = (path: string) => Promise<object | undefined>;

export interface InternalServer {
  close(): Promise<void>;
}

/** Serves `/metrics` and `routes` to operators, over plain HTTP and without authentication. */
export function startInternalServer(options: {
  host: string;
  port: number;
  logger: Logger;
  routes?: readonly InternalRoute[];
}): Promise<InternalServer> {
  const server = createServer((request, response) => {
    serve(request, options.routes ?? [], response).catch((error: unknown) => {
      options.logger.error({ error }, 'A request to the internal port failed.');
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
  { url = '/', headers }: IncomingMessage,
  routes: readonly InternalRoute[],
  response: ServerResponse,
): Promise<void> {
  const [path = ''] = url.split('?', 1);
  if (path === '/metrics') {
    // OpenMetrics is needed only for exemplars, which exist only with tracing.
    const isOpenMetrics = isTracing() && headers.accept?.includes('application/openmetrics-text') === true;
    const text = await (isOpenMetrics ? openMetrics() : metrics.metrics());
    response.writeHead(200, { 'content-type': isOpenMetrics ? openMetricsType : metrics.contentType });
    response.end(text);
    return;
  }
  for (const route of routes) {
    const body = await route(path);
    if (body !== undefined) {
      const json = JSON.stringify(body); // before the status is sent, since it may throw
      response.writeHead(200, { 'content-type': 'application/json' }).end(json);
      return;
    }
  }
  response.writeHead(404).end();
}
