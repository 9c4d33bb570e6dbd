import { publicId, type WebhookEnvelope, type WebhookEvent } from '@fulfilment/contracts';
import type { ApiVersion } from '../subscriptions/subscription.rules.js';

export interface EnvelopeParts {
  readonly id: string;
  readonly event: WebhookEvent;
  readonly occurredAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Returns the public id of an event: the same for every subscription, attempt and retry. */
export function eventPublicId(id: string, { test }: { readonly test: boolean }): string {
  const text = publicId('evt', id);
  return test ? text.replace('evt_', 'evt_test_') : text;
}

/**
 * Renders the bytes that are signed and sent, once per event. An older api_version is supported for at least
 * 12 months.
 */
export function renderBody(parts: EnvelopeParts, apiVersion: ApiVersion, { test } = { test: false }): Buffer {
  const envelope: WebhookEnvelope = {
    id: eventPublicId(parts.id, { test }),
    api_version: apiVersion,
    created_at: new Date(parts.occurredAt).toISOString(),
    event: parts.event,
    data: parts.data,
  };
  return Buffer.from(JSON.stringify(envelope));
}
