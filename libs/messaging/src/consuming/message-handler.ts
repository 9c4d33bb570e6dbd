import type { ConfirmChannel, ConsumeMessage } from 'amqplib';

/** Handles the messages that a `QueueReader` receives. */
export interface MessageHandler {
  /**
   * Resolves when each message is handled, dead-lettered or requeued, or when the channel is closed.
   * @throws when the rejection of a message could not be recorded
   */
  handle(channel: ConfirmChannel, batch: readonly ConsumeMessage[]): Promise<void>;
  /** Dead-letters a message without handling it. */
  deadLetter(channel: ConfirmChannel, raw: ConsumeMessage, reason: string): Promise<void>;
}

/** Callbacks that the `QueueReader` provides. */
export interface HandlerCallbacks {
  /** Acknowledges a message: only this one, or with `allUpTo` also all earlier ones of the channel. */
  readonly acknowledge: (
    channel: ConfirmChannel,
    raw: ConsumeMessage,
    scope?: { readonly allUpTo: boolean },
  ) => Promise<void>;
  /** Whether to handle messages of this channel: it is open, and the reader is not stopping. */
  readonly acceptsWork: (channel: ConfirmChannel) => boolean;
  /**
   * Called during a long database outage. Requeues all messages, unless the database responds to a ping.
   * Resolves to true if the messages were requeued.
   */
  readonly requeueUnlessDatabaseResponds: () => Promise<boolean>;
}
