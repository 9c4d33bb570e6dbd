import { webhookEventNames } from '@fulfilment/client/webhooks';
import { printable, UsageError } from '../terminal.js';

/** The names of events and the patterns that a subscription accepts. */
export const eventPatterns = [...webhookEventNames, '*', 'order.*', 'product.*'] as const;

/**
 * Returns a predicate: whether one of the patterns matches an event. Without patterns, every event matches.
 * @throws UsageError for an unknown pattern
 */
export function eventFilter(patterns: readonly string[]): (event: string) => boolean {
  const validPatterns: readonly string[] = eventPatterns;
  const unknown = patterns.find((pattern) => !validPatterns.includes(pattern));
  if (unknown !== undefined)
    throw new UsageError(`Unknown event "${printable(unknown)}". All events: ${validPatterns.join(', ')}`);
  return (event) =>
    patterns.length === 0 ||
    patterns.some((pattern) =>
      pattern.endsWith('*') ? event.startsWith(pattern.slice(0, -1)) : event === pattern,
    );
}
