/** A message with its delivery tag: its number on the channel, from 1. */
interface Delivery {
  readonly fields: { readonly deliveryTag: number };
}

type Acknowledgement<Raw> =
  /** The message is not acknowledged now, but together with a later one. */
  | { readonly isWithheld: true }
  | {
      readonly isWithheld: false;
      /** Whether another replica is to continue: this one unsubscribes before the acknowledgement. */
      readonly endsSlice: boolean;
      /** The last withheld message, if it and those before it must be acknowledged separately, first. */
      readonly withheld?: Raw | undefined;
    };

/**
 * Limits how long a consumer stays the single active one while other replicas wait. If it unsubscribed while
 * RabbitMQ was sending messages to it, it would handle them after the next consumer had received newer ones.
 * So when its time is over, it withholds acknowledgements until it has handled `prefetch` messages: RabbitMQ
 * sends no more without an acknowledgement, so none is on its way. If fewer messages wait, there is no
 * backlog, and the slice continues.
 */
export class TimeSlice<Raw extends Delivery> {
  private receivedTag = 0;
  /** The highest acknowledged tag. Earlier messages may be acknowledged after it. */
  private acknowledgedTag = 0;
  private withheld: Raw | undefined;
  private endsAtMs = Infinity;

  /**
   * Starts on a new channel, whose delivery tags begin at 1.
   * @param prefetch maximum number of messages that RabbitMQ sends without an acknowledgement
   * @param durationMs the mean duration of a slice; by default it never ends
   */
  constructor(
    private readonly prefetch: number,
    private readonly durationMs = Infinity,
  ) {
    this.extend();
  }

  /** Call with each message, in the order in which they arrive. */
  recordReceived({ fields }: Raw): void {
    this.receivedTag = fields.deliveryTag;
  }

  /**
   * Decides how a handled message is acknowledged.
   * @param scope.allUpTo whether all earlier messages of the channel are handled as well
   */
  decideAcknowledgement(raw: Raw, { allUpTo }: { readonly allUpTo: boolean }): Acknowledgement<Raw> {
    return allUpTo ? this.acknowledgeAll(raw) : this.acknowledgeOne(raw);
  }

  private acknowledgeAll(raw: Raw): Acknowledgement<Raw> {
    const { deliveryTag } = raw.fields;
    const isExpired = performance.now() >= this.endsAtMs;
    if (isExpired && deliveryTag < this.receivedTag) {
      this.withheld = raw;
      return { isWithheld: true };
    }
    const endsSlice = isExpired && deliveryTag - this.acknowledgedTag >= this.prefetch;
    this.acknowledgedTag = Math.max(this.acknowledgedTag, deliveryTag);
    this.withheld = undefined; // acknowledged together with this message
    if (endsSlice) this.extend();
    return { isWithheld: false, endsSlice };
  }

  /** Extends the slice: after a single acknowledgement it is unknown how many messages RabbitMQ sends. */
  private acknowledgeOne(raw: Raw): Acknowledgement<Raw> {
    const { withheld } = this;
    this.acknowledgedTag = Math.max(this.acknowledgedTag, raw.fields.deliveryTag);
    this.withheld = undefined;
    this.extend();
    return { isWithheld: false, endsSlice: false, withheld };
  }

  /** Sets the end of the slice. The duration is random, so that replicas exchange shards one by one. */
  private extend(): void {
    this.endsAtMs = performance.now() + this.durationMs * (0.5 + Math.random());
  }
}
