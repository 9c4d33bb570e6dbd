import { apiVersion, type Envelope, type WebhookEvent, webhookEventNames } from './events.js';
import { WebhookRefused } from './webhook-refused.js';

/** A verified event, known to this version of the package or not. */
export type ReceivedEvent = Envelope<string, Readonly<Record<string, unknown>>>;

/**
 * Whether the types of this package tell its data: its name and its `api_version` are known. Answer 2xx to an event
 * that is not: it was delivered, and sending it again would not make it known.
 */
export function isKnownEvent(event: ReceivedEvent): event is WebhookEvent {
  return event.api_version === apiVersion && webhookEventNames.some((name) => name === event.event);
}

/** Whether it is a sample that the owner of the subscription asked for; nothing has happened. Its id is signed, unlike `X-Service-Test`. */
export function isTestEvent(event: ReceivedEvent): boolean {
  return event.id.startsWith('evt_test_');
}

/** Members that are not known are kept. @throws WebhookRefused `malformed_body` */
export function parseEvent(body: Uint8Array): ReceivedEvent {
  const value = parseJson(body);
  if (!isEnvelope(value)) throw new WebhookRefused('malformed_body');
  return value;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new WebhookRefused('malformed_body'); // without the cause, which quotes the body
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
