import { setTimeout as delay } from 'node:timers/promises';
import { type FeedEvent, forward, type ForwardOutcome, type ForwardTarget } from './forward.js';

/** The delay between retries begins with the minimum, and doubles up to the maximum. */
const [minRetryDelayMs, maxRetryDelayMs] = [500, 10_000];

/** One attempt to send an event to the receiver. */
export interface ForwardAttempt {
  readonly event: FeedEvent;
  /** From 1; increases with each resend. */
  readonly attempt: number;
  readonly outcome: ForwardOutcome;
}

export interface ForwarderOptions {
  readonly target: ForwardTarget;
  readonly signal: AbortSignal;
  /** Prints the result of an attempt. */
  readonly report: (attempt: ForwardAttempt) => void;
  /** Prints a line for the person. */
  readonly note: (line: string) => void;
}

/** Sends events to the receiver. The last one can be resent. */
export class Forwarder {
  private lastSent: { readonly event: FeedEvent; attempt: number } | undefined;

  constructor(private readonly options: ForwarderOptions) {}

  /** Retries until the receiver can be reached. Reports its response, or that it timed out. */
  async send(event: FeedEvent): Promise<void> {
    const { target, signal, note } = this.options;
    const sent = { event, attempt: 1 };
    this.lastSent = sent;
    for (let failures = 0; ; failures += 1) {
      const { attempt } = sent; // a resend during the request increases it
      const outcome = await forward(target, event, attempt, signal);
      if (outcome !== 'connection_failed') return this.options.report({ event, attempt, outcome });
      if (failures === 0) note(`${target.url} cannot be reached. Retrying ${event.id} …`);
      await delay(Math.min(minRetryDelayMs * 2 ** failures, maxRetryDelayMs), undefined, { signal });
    }
  }

  /** Sends the last event once more, without retries. */
  async resend(): Promise<void> {
    const { target, signal, report, note } = this.options;
    if (this.lastSent === undefined) return note('There is no event to resend.');
    this.lastSent.attempt += 1;
    const { event, attempt } = this.lastSent;
    report({ event, attempt, outcome: await forward(target, event, attempt, signal) });
  }
}
