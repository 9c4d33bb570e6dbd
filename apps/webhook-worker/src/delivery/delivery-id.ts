/**
 * Returns SQL of the id of a delivery: the first half of the SHA-256 of the ids of event and subscription, so
 * that a repeated message creates no second delivery.
 * @param eventId SQL of the event's UUID
 * @param subscriptionId SQL of the subscription's UUID
 */
export function deliveryIdSql(eventId: string, subscriptionId: string): string {
  return `encode(substring(sha256(convert_to(${eventId}::text || '|' || ${subscriptionId}::text, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid`;
}
