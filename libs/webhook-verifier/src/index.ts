export { verifyWebhook, type VerifyOptions, type WebhookRequest } from './verify-webhook.js';
export type { PublicKey } from './asymmetric-signature.js';
export { WebhookVerificationError, type WebhookVerificationErrorCode } from './webhook-verification-error.js';
export { isKnownEvent, isTestEvent, type ReceivedEvent } from './received-event.js';
export {
  apiVersion,
  webhookEventNames,
  type WebhookEvent,
  type WebhookEventData,
  type WebhookEventName,
} from './events.js';
export type {
  CatalogueStatus,
  Money,
  OrderCancelled,
  OrderCreated,
  OrderDelivered,
  OrderMetadata,
  OrderPaymentFailed,
  OrderProcessing,
  OrderSource,
  OrderStatus,
  OrderTracking,
  PackageItem,
  ProductInventory,
  ProductInventoryChanged,
  ProductPurchasable,
} from './event-data.js';
