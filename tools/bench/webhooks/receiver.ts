import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenAndPrintPort } from '../listen-and-print-port.ts';
import { subscriptionSecret } from './receiver-secret.ts';

// The server of the subscribers, in a separate process, so that its processor time is not that of a sender.
// POST /hook/N is a delivery to subscription N; POST /far/N gets its response after 100 ms; POST /dead/N
// never gets one. It stores deliveries, and verifies their signatures only after the measurement.
// GET /when?count=N responds once N deliveries have arrived; GET /deliveries returns and deletes them.

interface StoredDelivery {
  readonly path: string;
  readonly arrivedAtMs: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: readonly Buffer[];
}

const farLatencyMs = 100;

let stored: StoredDelivery[] = [];
let waiting: { readonly count: number; readonly response: ServerResponse }[] = [];

/** Verifies the signature (docs/receiving-webhooks.md) without the code of the sender. */
function isSigned({ path, headers, body }: StoredDelivery): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-service-signature'])) ?? [];
  const bytes = Buffer.concat([Buffer.from(`${t}.`), ...body]);
  return (
    v1 ===
    createHmac('sha256', Buffer.from(subscriptionSecret(path), 'utf8'))
      .update(bytes)
      .digest('hex')
  );
}

function describeDelivery(delivery: StoredDelivery) {
  const { path, arrivedAtMs, headers, body } = delivery;
  const envelope: unknown = JSON.parse(Buffer.concat(body).toString());
  const signed = isSigned(delivery);
  return { path, arrivedAtMs, deliveryId: headers['x-service-delivery'], signed, envelope };
}

function store(request: IncomingMessage, response: ServerResponse, latencyMs: number): void {
  const body: Buffer[] = [];
  const arrivedAtMs = performance.timeOrigin + performance.now();
  request.on('data', (chunk: Buffer) => body.push(chunk));
  request.on('end', () => {
    stored.push({ path: request.url ?? '', arrivedAtMs, headers: request.headers, body });
    const respond = () => void response.writeHead(204).end();
    if (latencyMs === 0) respond();
    else setTimeout(respond, latencyMs);
    if (waiting.length > 0) resolveWaiting();
  });
}

function resolveWaiting(): void {
  for (const { count, response } of waiting) if (stored.length >= count) response.end();
  waiting = waiting.filter(({ response }) => !response.writableEnded);
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const { method, url = '' } = request;
  if (method === 'POST' && url.startsWith('/hook/')) return store(request, response, 0);
  if (method === 'POST' && url.startsWith('/far/')) return store(request, response, farLatencyMs);
  if (method === 'POST') return void request.resume(); // never gets a response
  if (url.startsWith('/when?count=')) {
    waiting.push({ count: Number(url.slice('/when?count='.length)), response });
    return resolveWaiting();
  }
  response.end(JSON.stringify(stored.map(describeDelivery)));
  stored = [];
});
await listenAndPrintPort(server);
