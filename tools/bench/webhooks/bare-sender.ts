import { publicId, uuidv7 } from '@fulfilment/contracts';
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { Agent, request as send } from 'undici';
import { z } from 'zod';
import { listenAndPrintPort } from '../listen-and-print-port.ts';
import { subscriptionSecret } from './receiver-secret.ts';

// The baseline, in a separate process: signs bodies in memory and posts them with undici's `request` and the
// headers of webhook-worker, at most 64 at a time. It has no database, and so no leases, history or retries,
// and does not check addresses. PUT / stores bodies; POST / sends them, and responds when all were received.
const maxConcurrent = 64;
const workSchema = z.object({
  origin: z.string(),
  deliveries: z.array(z.object({ path: z.string(), body: z.string() })),
});

let work: z.output<typeof workSchema> = { origin: '', deliveries: [] };
// createHmac with a key as text or bytes takes five times as long as the signature itself (Node.js 24).
const keys = new Map<string, KeyObject>();

function signingKey(path: string): KeyObject {
  const key = keys.get(path) ?? createSecretKey(subscriptionSecret(path), 'utf8');
  keys.set(path, key);
  return key;
}

const agent = new Agent({ connections: maxConcurrent });

async function sendDelivery(origin: string, path: string, body: string): Promise<void> {
  const timestamp = Math.floor(Date.now() / 1000);
  const id = publicId('evt', uuidv7());
  const hmac = (prefix: string) => createHmac('sha256', signingKey(path)).update(prefix).update(body);
  const response = await send(`${origin}${path}`, {
    dispatcher: agent,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/1',
      'x-service-event': 'order.created',
      'x-service-delivery': publicId('whd', uuidv7()),
      'x-service-attempt': '1',
      'x-service-signature': `t=${timestamp},v1=${hmac(`${timestamp}.`).digest('hex')}`,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${hmac(`${id}.${timestamp}.`).digest('base64')}`,
      traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
    },
    body,
  });
  await response.body.dump();
  if (response.statusCode !== 204) throw new Error(`The receiver responded with ${response.statusCode}.`);
}

async function sendAll(): Promise<void> {
  const { origin, deliveries } = work;
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let delivery = deliveries[next]; delivery !== undefined; delivery = deliveries[next]) {
      next += 1;
      await sendDelivery(origin, delivery.path, delivery.body);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrent }, sender));
}

async function handle(request: IncomingMessage): Promise<void> {
  if (request.method === 'PUT') work = workSchema.parse(await json(request));
  else await sendAll();
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  handle(request).then(
    () => response.writeHead(204).end(),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
await listenAndPrintPort(server);
