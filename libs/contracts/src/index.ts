export { formatUuid, idShape, isUuid, maxUuid, nilUuid, parsePublicId, publicId, uuidv7 } from './ids.js';
export {
  currencies,
  currencyExponents,
  isCurrency,
  maxAmount,
  moneyShape,
  type Currency,
  type Money,
} from './money.js';
export { identityScopes, storeScopes, type StoreScope } from './scopes.js';
export {
  accessTokenClaims,
  accessTokenLifetimeSeconds,
  audiences,
  dpopSigningAlgorithms,
  issuer,
  userRoles,
  revokedTokenKey,
  type AccessTokenClaims,
} from './token-claims.js';
export {
  catalogueStatuses,
  dispatchStatuses,
  orderStatuses,
  paymentMethods,
  paymentStatuses,
  paymentMethodIdPattern,
  type CatalogueStatus,
  type DispatchStatus,
  type OrderStatus,
  type PaymentMethod,
  type PaymentStatus,
} from './states.js';
export {
  isWebhookEvent,
  webhookEnvelopeShape,
  webhookEvents,
  type WebhookEnvelope,
  type WebhookEvent,
} from './webhook-events.js';
export { visibleCharacter } from './texts.js';
export { maxTrackPosition, maxTrackSeconds } from './tracks.js';
export { cursorPageShape, type CursorPage, type NumberedPage, numberedPageShape } from './pages.js';
export { type Message, messageEnvelope, type MessageType } from './messages/message.js';
export type { OrderSnapshot } from './messages/order-messages.js';
export type { ProductSnapshot } from './messages/product-messages.js';
export type { CreatorSnapshot, EditionSnapshot } from './messages/creator-messages.js';
export {
  InvalidMessage,
  messages,
  parseEnvelope,
  parseMessage,
  type SuiteMessageType,
} from './messages/messages.js';
export {
  messageQueues,
  orderedQueues,
  routingKeyOf,
  serviceOfQueue,
  topologyOf,
  type Lane,
  type MessageQueue,
  type ShardedTopology,
  type Topology,
} from './messages/queues.js';
export { shardOf } from './messages/shards.js';
