import { publicId, uuidv7 } from '@fulfilment/contracts';
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { Agent, request as send } from 'undici';
import { z } from 'zod';
import { subscriptionSecret } from './receiver-secret.ts';

/**
 * The base line, a process of its own: undici's `request` over an Agent, that signs and posts bodies it has
 * in memory, so many at a time, with the headers of webhook-worker. It takes nothing from a database and
 * writes nothing down: no lease, no history, no retry, no check of the address. PUT / gives it bodies, POST /
 * has them sent and gets a response when all were received. Prints its port.
 */
const atATime = 64;
const load = z.object({
  origin: z.string(),
  deliveries: z.array(z.object({ path: z.string(), body: z.string() })),
});

let loaded: z.output<typeof load> = { origin: '', deliveries: [] };
// Made once: a key that comes as text or bytes costs createHmac five times as much as the signature itself
// (Node.js 24).
const keys = new Map<string, KeyObject>();

function signingKey(path: string): KeyObject {
  const key = keys.get(path) ?? createSecretKey(subscriptionSecret(path), 'utf8');
  keys.set(path, key);
  return key;
}

const agent = new Agent({ connections: atATime });

async function sendDelivery(origin: string, path: string, body: string): Promise<void> {
  const t = Math.floor(Date.now() / 1000);
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
      'x-service-signature': `t=${t},v1=${hmac(`${t}.`).digest('hex')}`,
      'webhook-id': id,
      'webhook-timestamp': String(t),
      'webhook-signature': `v1,${hmac(`${id}.${t}.`).digest('base64')}`,
      traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
    },
    body,
  });
  await response.body.dump();
  if (response.statusCode !== 204) throw new Error(`The receiver responded with ${response.statusCode}.`);
}

async function sendAll(): Promise<void> {
  const { origin, deliveries } = loaded;
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let one = deliveries[next]; one !== undefined; one = deliveries[next]) {
      next += 1;
      await sendDelivery(origin, one.path, one.body);
    }
  };
  await Promise.all(Array.from({ length: atATime }, sender));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function handle(request: IncomingMessage): Promise<void> {
  if (request.method === 'PUT') loaded = load.parse(await bodyOf(request));
  else await sendAll();
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  handle(request).then(
    () => response.writeHead(204).end(),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) console.log(JSON.stringify({ port: address.port }));
});
