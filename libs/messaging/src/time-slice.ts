/** A message with its number on the channel. */
interface Delivery {
  readonly fields: { readonly deliveryTag: number };
}

type Acknowledgement<Raw> =
  /** The message is acknowledged together with a later one, not now. */
  | { readonly isWithheld: true }
  | {
      readonly isWithheld: false;
      /** Whether the consumer gives way to another: it unsubscribes before the acknowledgement. */
      readonly isOver: boolean;
      /** The last of the messages that were withheld, acknowledged first. */
      readonly withheld?: Raw | undefined;
    };

/**
 * Limits the time for which a single active consumer goes on while others wait. A consumer that unsubscribes
 * with messages in hand would handle them while the next one already has newer messages. So after its time,
 * acknowledgements are withheld until as many messages are handled as RabbitMQ sends without one: then none
 * is on its way. If the queue is shorter than that, no other replica is needed, and the consumer stays.
 */
export class TimeSlice<Raw extends Delivery> {
  private receivedTag = 0;
  private acknowledgedTag = 0;
  private withheld: Raw | undefined;
  private endsAtMs = Infinity;

  /** @param prefetch the number of messages that RabbitMQ sends without an acknowledgement */
  constructor(
    private readonly prefetch: number,
    private readonly durationMs = Infinity,
  ) {}

  /** Starts on a new channel, whose delivery tags begin at 1. */
  begin(): void {
    this.receivedTag = 0;
    this.acknowledgedTag = 0;
    this.withheld = undefined;
    this.extend();
  }

  received({ fields }: Raw): void {
    this.receivedTag = fields.deliveryTag;
  }

  /** Decides how a handled message is acknowledged. */
  acknowledge(raw: Raw, { andAllBefore }: { readonly andAllBefore: boolean }): Acknowledgement<Raw> {
    const { withheld } = this;
    const { deliveryTag } = raw.fields;
    const isLast = deliveryTag === this.receivedTag;
    if (andAllBefore && !isLast && performance.now() >= this.endsAtMs) {
      this.withheld = raw;
      return { isWithheld: true };
    }
    const isFull = andAllBefore && isLast && deliveryTag - this.acknowledgedTag >= this.prefetch;
    const isOver = isFull && performance.now() >= this.endsAtMs;
    this.withheld = undefined;
    this.acknowledgedTag = deliveryTag;
    // After a single acknowledgement the number of messages that RabbitMQ sends is not known exactly.
    if (isOver || !andAllBefore) this.extend();
    return { isWithheld: false, isOver, withheld: andAllBefore ? undefined : withheld };
  }

  /** Extends the slice by a random time, so that replicas exchange shards one by one. */
  private extend(): void {
    this.endsAtMs = performance.now() + this.durationMs * (0.5 + Math.random());
  }
}
