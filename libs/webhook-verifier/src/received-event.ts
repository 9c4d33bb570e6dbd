import { apiVersion, type Envelope, type WebhookEvent, webhookEventNames } from './events.js';
import { WebhookVerificationError } from './webhook-verification-error.js';

/** A verified event, which this version of the package may not know. */
export type ReceivedEvent = Envelope<string, Readonly<Record<string, unknown>>>;

/**
 * Whether this package has types for the event: its name and `api_version` are known. Respond with 2xx to an
 * unknown event: it was delivered, and a retry would not make it known.
 */
export function isKnownEvent(event: ReceivedEvent): event is WebhookEvent {
  return event.api_version === apiVersion && webhookEventNames.some((name) => name === event.event);
}

/**
 * Whether the event is a sample that the subscription's owner requested. The id is signed, unlike
 * `X-Service-Test`.
 */
export function isTestEvent(event: ReceivedEvent): boolean {
  return event.id.startsWith('evt_test_');
}

/** Returns the event with all members, known or not. @throws WebhookVerificationError `malformed_body` */
export function parseEvent(body: Uint8Array): ReceivedEvent {
  const value = parseJson(body);
  if (!isEnvelope(value)) throw new WebhookVerificationError('malformed_body');
  return value;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new WebhookVerificationError('malformed_body'); // without the cause, whose message quotes the body
  }
}

function isEnvelope(value: unknown): value is ReceivedEvent {
  if (!isRecord(value)) return false;
  const { id, api_version, created_at, event, data } = value;
  return [id, api_version, created_at, event].every((text) => typeof text === 'string') && isRecord(data);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
