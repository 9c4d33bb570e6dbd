import { type WebhookEnvelope, type WebhookEvent } from '@fulfilment/contracts';
import { eventPublicId } from '../delivery/event-public-id.js';
import type { ApiVersion } from '../subscriptions/subscription.rules.js';

export interface EnvelopeParts {
  /** UUID of the event. */
  readonly id: string;
  readonly event: WebhookEvent;
  readonly occurredAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Renders the bytes that are signed and sent: the same for all subscriptions with this api_version, and for
 * all attempts.
 */
export function renderBody(parts: EnvelopeParts, apiVersion: ApiVersion, { test = false } = {}): Buffer {
  const envelope: WebhookEnvelope = {
    id: eventPublicId(parts.id, { test }),
    api_version: apiVersion,
    created_at: new Date(parts.occurredAt).toISOString(),
    event: parts.event,
    data: parts.data,
  };
  return Buffer.from(JSON.stringify(envelope));
}
