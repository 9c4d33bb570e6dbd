import type { Message } from '@fulfilment/contracts';

/** Leaves out repetitions: the outbox may publish a message more than once, always with the same id. */
export const withoutRepetitions = (messages: readonly Message[]): Message[] => [
  ...new Map(messages.map((message) => [message.id, message])).values(),
];
