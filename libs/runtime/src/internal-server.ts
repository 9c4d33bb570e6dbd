import { createServer, type ServerResponse } from 'node:http';
import { metrics } from './metrics.js';

/** What a path of the internal port answers with; undefined is 404. */
export type InternalRoute = (path: string) => Promise<object | undefined>;

export interface InternalServer {
  close(): Promise<void>;
}

/** The port operators and Prometheus read: `/metrics` and what the service adds. Plain HTTP, no authentication, never routed by the gateway. */
export function startInternalServer(options: {
  host: string;
  port: number;
  routes?: readonly InternalRoute[];
}): Promise<InternalServer> {
  const server = createServer((request, response) => {
    answer(request.url ?? '/', options.routes ?? [], response).catch(() => {
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

async function answer(
  path: string,
  routes: readonly InternalRoute[],
  response: ServerResponse,
): Promise<void> {
  if (path === '/metrics') {
    const text = await metrics.metrics();
    response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
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
