import { setTimeout as delay } from 'node:timers/promises';
import { type FeedEvent, forward, type ForwardOutcome, type ForwardTarget } from './forward.js';

const [minDelayMs, maxDelayMs] = [500, 10_000];

/** An event that the receiver got, or did not accept. */
export interface Forwarded {
  readonly event: FeedEvent;
  readonly attempt: number;
  readonly outcome: ForwardOutcome;
}

export interface ForwarderOptions {
  readonly target: ForwardTarget;
  readonly signal: AbortSignal;
  readonly report: (forwarded: Forwarded) => void;
  readonly note: (line: string) => void;
}

/** Sends events to the receiver, and remembers the last one. */
export class Forwarder {
  private last: { readonly event: FeedEvent; attempt: number } | undefined;

  constructor(private readonly options: ForwarderOptions) {}

  /** Retries while the receiver cannot be reached. Any response is reported, and ends it. */
  async send(event: FeedEvent): Promise<void> {
    const { target, signal, note } = this.options;
    const sent = (this.last = { event, attempt: 1 });
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
    if (this.last === undefined) return note('There is no event to resend.');
    const { event } = this.last;
    const attempt = (this.last.attempt += 1);
    report({ event, attempt, outcome: await forward(target, event, attempt, signal) });
  }
}
