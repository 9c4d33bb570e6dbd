/**
 * SQL: the id of the delivery of an event to a subscription: the first half of SHA-256 of both ids, so that a
 * repeated message creates no second delivery.
 */
export function deliveryIdSql(eventId: string, subscriptionId: string): string {
  return `encode(substring(sha256(convert_to(${eventId}::text || '|' || ${subscriptionId}::text, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid`;
}
