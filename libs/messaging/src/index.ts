export { Messaging } from './messaging.js';
export { Outbox } from './outbox.js';
export { RefusedMessage, type ConsumerOptions } from './consumer.js';
export { each } from './each.js';
export { messageOutcomes } from './inbox.js';
export { refusalReasonHeader } from './dead-letters.js';
export { assertTopology, queueNames } from './topology.js';
export { createMessagingTables, dropMessagingTables } from './tables.js';
