import { createHmac } from 'node:crypto';

/** An event of the feed, with the members that are used here. It also has the others of the envelope. */
export interface FeedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ForwardTarget {
  readonly url: string;
  readonly secret: string;
}

/** The timeout of a delivery, the default of webhook-worker (docs/receiving-webhooks.md). */
const timeoutMs = 15_000;

/** The HTTP status of the receiver's response, or why there is none. */
export type ForwardOutcome = number | 'timeout' | 'connection_failed';

/** Sends an event as webhook-worker does, with the body of a delivery and most of its headers. */
export async function forward(
  { url, secret }: ForwardTarget,
  event: FeedEvent,
  attempt: number,
  signal: AbortSignal,
): Promise<ForwardOutcome> {
  const body = JSON.stringify(event); // the same bytes as in a delivery
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: signedHeaders(event, body, attempt, secret),
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    signal.throwIfAborted();
    return timeout.aborted ? 'timeout' : 'connection_failed';
  }
}

/**
 * Returns the headers of a delivery (docs/receiving-webhooks.md), without `traceparent`, `X-Service-Test`,
 * `X-Service-Signature-Previous` and the signature `v1a`. No delivery exists, so its id is derived from that
 * of the event.
 */
function signedHeaders(
  { id, event }: FeedEvent,
  body: string,
  attempt: number,
  secret: string,
): Record<string, string> {
  const unixSeconds = Math.floor(Date.now() / 1000);
  const hmac = (key: string | Buffer, prefix: string) =>
    createHmac('sha256', key).update(`${prefix}${unixSeconds}.${body}`);
  return {
    'content-type': 'application/json',
    'user-agent': 'Service-Webhooks/1',
    'x-service-event': event,
    'x-service-delivery': id.replace(/^evt_/, 'whd_'),
    'x-service-attempt': String(attempt),
    'x-service-signature': `t=${unixSeconds},v1=${hmac(secret, '').digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(unixSeconds),
    'webhook-signature': `v1,${hmac(standardWebhooksKey(secret), `${id}.`).digest('base64')}`,
  };
}

/** Returns the key of Standard Webhooks: `whsec_…` contains it in base64, any other secret is the key. */
function standardWebhooksKey(secret: string): string | Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(secret) ?? [];
  const isBase64 = base64 !== undefined && base64.length % 4 !== 1; // base64 never has 4 n + 1 digits
  return isBase64 ? Buffer.from(base64, 'base64') : secret;
}
