import { publicId } from '@fulfilment/contracts';
import { type Exchange, GuardedClient } from '@fulfilment/guarded-fetch';
import { endFailed, isTracing, nextTraceparent, Span, type SpanStart, startTrace } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../../config.js';
import { SigningKeys } from '../../subscriptions/keys/signing-keys.js';
import { eventPublicId } from '../event-public-id.js';
import type { LeasedDelivery } from '../leased-delivery.js';
import { asymmetricSignature, serviceSignature, standardSignature } from './sign.rules.js';

// The status alone decides the outcome; the body is read for the history only.
const bodyTimeoutMs = 1_000;
const maxReadBytes = 16 * 1024; // the connection is kept for the next attempt if the body ends within it
const maxKeptBytes = 4 * 1024;

/** The exchange of an attempt, with its span if that is recorded. */
export type SentAttempt = Exchange & { readonly span?: Span };

/** Sends one signed attempt. */
@Injectable()
export class PostWebhook {
  constructor(
    private readonly client: GuardedClient,
    private readonly keys: SigningKeys,
    @Inject(CONFIG) private readonly config: WebhookWorkerSettings,
  ) {}

  /**
   * Makes one attempt. Failures of the receiver and the network are outcomes of the exchange.
   * @throws UnreadableSecret if a secret or signing key of the subscription cannot be opened
   */
  async run(delivery: LeasedDelivery): Promise<SentAttempt> {
    const trace = startAttemptTrace(delivery);
    if (!(trace instanceof Span)) return this.send(delivery, trace.traceparent);
    try {
      const exchange = await this.send(delivery, trace.traceparent);
      endSpan(trace, exchange);
      return { ...exchange, span: trace };
    } catch (error) {
      endFailed(trace, error);
      throw error;
    }
  }

  private send(delivery: LeasedDelivery, traceparent: string): Promise<Exchange> {
    return this.client.send({
      method: 'POST',
      url: delivery.url,
      headers: { ...this.headers(delivery), traceparent },
      body: delivery.body,
      deadlineMs: this.config.WEBHOOK_TIMEOUT_MS,
      bodyTimeoutMs,
      maxReadBytes,
      maxKeptBytes,
    });
  }

  private headers(delivery: LeasedDelivery): Record<string, string> {
    // Each attempt is signed with its own time, since receivers reject a time more than 300 seconds ago.
    const unixSeconds = Math.floor(Date.now() / 1000);
    const { secret, previousSecret, signingKey, previousSigningKey, subscriptionId, body, test } = delivery;
    const keys = this.keys.getHmacKeys(secret, subscriptionId);
    const previousKeys =
      previousSecret === null ? undefined : this.keys.getHmacKeys(previousSecret, subscriptionId);
    const id = eventPublicId(delivery.eventId, { test });
    const standardSignatures = [keys, previousKeys]
      .filter((hmacKeys) => hmacKeys !== undefined)
      .map((hmacKeys) => standardSignature(hmacKeys, id, unixSeconds, body));
    const asymmetricSignatures = [signingKey, previousSigningKey]
      .filter((sealed) => sealed !== null)
      .map((sealed) => this.keys.getPrivateKey(sealed, subscriptionId))
      .map((key) => asymmetricSignature(key, id, unixSeconds, body));
    return {
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/1',
      'x-service-event': delivery.event,
      'x-service-delivery': publicId('whd', delivery.id),
      'x-service-attempt': String(delivery.number),
      'x-service-signature': serviceSignature(keys, unixSeconds, body),
      ...(previousKeys === undefined
        ? {}
        : { 'x-service-signature-previous': serviceSignature(previousKeys, unixSeconds, body) }),
      'webhook-id': id,
      'webhook-timestamp': String(unixSeconds),
      'webhook-signature': [...standardSignatures, ...asymmetricSignatures].join(' '),
      ...(test ? { 'x-service-test': 'true' } : {}),
    };
  }
}

/** Returns a `Span` if the attempt is recorded; otherwise only the `traceparent` to send. */
function startAttemptTrace(delivery: LeasedDelivery): Pick<Span, 'traceparent'> {
  const { traceparent: received } = delivery;
  const trace = isTracing() ? startTrace(spanOf(delivery), { received, isTrusted: true }) : undefined;
  if (trace instanceof Span) return trace;
  // With tracing, an attempt that is not recorded is marked as unsampled; without tracing, the received flag
  // is passed on.
  const isSampled = trace === 'unsampled' ? false : undefined;
  return { traceparent: nextTraceparent(received ?? undefined, { isSampled }) };
}

/** The span has neither the URL nor the host of the receiver, which may contain secrets. */
function spanOf({ id, subscriptionId, event, number, trigger }: LeasedDelivery): SpanStart {
  return {
    name: `deliver ${event}`,
    kind: 'client',
    attributes: {
      'http.request.method': 'POST',
      'http.request.resend_count': number - 1,
      'webhook.event': event,
      'webhook.delivery.id': publicId('whd', id),
      'webhook.subscription.id': publicId('whk', subscriptionId),
      'webhook.trigger': trigger,
    },
  };
}

function endSpan(span: Span, { outcome, statusCode }: Exchange): void {
  if (statusCode !== undefined) span.set({ 'http.response.status_code': statusCode });
  if (outcome !== 'succeeded') span.fail(outcome);
  span.end();
}
