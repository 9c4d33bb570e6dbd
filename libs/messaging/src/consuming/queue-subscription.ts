import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import { TimeSlice } from './time-slice.js';

export interface QueueSubscriptionOptions {
  readonly isOrdered: boolean;
  /** Maximum number of messages that RabbitMQ sends without an acknowledgement. */
  readonly prefetch: number;
  /** About the time for which a reader with a backlog stays the active consumer. Default: no limit. */
  readonly timeSliceMs: number | undefined;
  /** Gets null when RabbitMQ has cancelled the subscription, e.g. because the queue moved to another node. */
  readonly receive: (raw: ConsumeMessage | null) => void;
}

/**
 * The subscription of a `QueueReader` to its queue on one channel, and the acknowledgements there. It is
 * renewed:
 * - to prefetch several messages of a shared queue, once a message was never delivered before
 *   (`QueueReader`);
 * - at the end of the time slice, so that another replica continues (ADR 44). By then, every message that
 *   RabbitMQ has sent is handled, so no other replica can handle newer ones first.
 */
export class QueueSubscription {
  private queue = '';
  /** Undefined while not subscribed. `isSerial`: one message is prefetched at a time. */
  private active: { readonly tag: string; readonly isSerial: boolean } | undefined;
  private readonly slice: TimeSlice<ConsumeMessage>;
  private hasHandledAny = false;

  constructor(
    readonly channel: ConfirmChannel,
    private readonly options: QueueSubscriptionOptions,
  ) {
    this.slice = new TimeSlice(options.prefetch, options.timeSliceMs);
  }

  /** Whether no message was handled since `start`. */
  get hasHandledNone(): boolean {
    return !this.hasHandledAny;
  }

  async start(queue: string): Promise<void> {
    this.queue = queue;
    this.hasHandledAny = false;
    await this.subscribe({ isSerial: !this.options.isOrdered });
  }

  async stop(): Promise<void> {
    const { active } = this;
    this.active = undefined; // at once: a message that is acknowledged from now on must not renew it
    if (active !== undefined) await this.channel.cancel(active.tag);
  }

  /** Call after the handling of a message. The acknowledgement may be withheld until a later one. */
  async acknowledge(raw: ConsumeMessage, { allUpTo }: { readonly allUpTo: boolean }): Promise<void> {
    this.hasHandledAny = true;
    const endsSerial = this.active?.isSerial === true && !raw.fields.redelivered;
    const decision = this.slice.decideAcknowledgement(raw, { allUpTo });
    if (decision.isWithheld) return;
    // Unsubscribes before the acknowledgement, while no other message is being handled. Otherwise RabbitMQ
    // could give the next message to another replica while this one still handles a prefetched message.
    const isRenewed = this.active !== undefined && (endsSerial || decision.endsSlice);
    if (isRenewed) await this.stop();
    if (decision.withheld !== undefined) this.channel.ack(decision.withheld, true);
    this.channel.ack(raw, allUpTo);
    if (isRenewed) await this.subscribe({ isSerial: false });
  }

  private async subscribe({ isSerial }: { readonly isSerial: boolean }): Promise<void> {
    await this.channel.prefetch(isSerial ? 1 : this.options.prefetch);
    const { consumerTag: tag } = await this.channel.consume(this.queue, (raw) => {
      if (raw !== null) this.slice.recordReceived(raw);
      this.options.receive(raw);
    });
    this.active = { tag, isSerial };
  }
}
