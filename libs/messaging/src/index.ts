export { Messaging } from './messaging.js';
export { Outbox, outboxRow } from './outbox.js';
export type { ConsumerTimes } from './consumer.js';
export { MessageConsumer } from './message-consumer.js';
export { NeedsOwnTransaction, RejectedMessage } from './message-handling.js';
export { forEachMessage } from './for-each-message.js';
export { deleteExpiredInboxRows, InboxPartitions } from './inbox-partitions.js';
export { findOutcome, messageOutcomes, recordOutcome } from './inbox.js';
export { DeadLetterQueues } from './dead-letter-queues.js';
export { publishMessage } from './publish-message.js';
export { ReplayQueue } from './replay-queue.js';
export {
  declareQueues,
  declareQueuesOf,
  ensureFactsExchange,
  isMessageQueue,
  queueNames,
  queuesBehind,
  queuesOf,
} from './topology.js';
export { createMessagingTables } from './tables.js';
export { examineBroker } from './examine-broker.js';
