import { setTimeout as delay } from 'node:timers/promises';
import { type FeedEvent, forward, type ForwardOutcome, type ForwardTarget } from './forward.js';

const [minDelayMs, maxDelayMs] = [500, 10_000];

/** One attempt to send an event to the receiver. */
export interface ForwardAttempt {
  readonly event: FeedEvent;
  readonly attempt: number;
  readonly outcome: ForwardOutcome;
}

export interface ForwarderOptions {
  readonly target: ForwardTarget;
  readonly signal: AbortSignal;
  readonly report: (attempt: ForwardAttempt) => void;
  readonly note: (line: string) => void;
}

/** Sends events to the receiver, and remembers the last one. */
export class Forwarder {
  private lastSent: { readonly event: FeedEvent; attempt: number } | undefined;

  constructor(private readonly options: ForwarderOptions) {}

  /** Retries while the receiver cannot be reached. Any response ends the retries and is reported. */
  async send(event: FeedEvent): Promise<void> {
    const { target, signal, note } = this.options;
    const sent = { event, attempt: 1 };
    this.lastSent = sent;
    for (let failures = 0; ; failures += 1) {
      const outcome = await forward(target, event, sent.attempt, signal);
      if (outcome !== 'connection_failed')
        return this.options.report({ event, attempt: sent.attempt, outcome });
      if (failures === 0) note(`${target.url} cannot be reached. Retrying ${event.id} …`);
      await delay(Math.min(minDelayMs * 2 ** failures, maxDelayMs), undefined, { signal });
    }
  }

  /** Sends the last event once more. */
  async resend(): Promise<void> {
    const { target, signal, report, note } = this.options;
    if (this.lastSent === undefined) return note('There is no event to resend.');
    const { event } = this.lastSent;
    const attempt = (this.lastSent.attempt += 1);
    report({ event, attempt, outcome: await forward(target, event, attempt, signal) });
  }
}
