import { uuidv7 } from '@fulfilment/contracts';
import { throwNotFound, ValidationFailed } from '@fulfilment/error-envelope';
import type { Caller, KeyScope } from '@fulfilment/http-service';
import { requiredFieldsOf } from './address-requirements.js';
import { missingAddressParts } from './address.rules.js';
import type { PlaceOrderDto } from '../place-order.dto.js';

/** A request to place an order, with a complete address and the id that the order gets. */
export interface Placement {
  readonly caller: Caller;
  readonly creatorId: string;
  readonly order: PlaceOrderDto;
  readonly orderId: string;
  /** Scope of the idempotency key. A request without a key gets one that no other request has. */
  readonly keyScope: KeyScope;
}

/**
 * Checks the address, and assigns the id of the order.
 * @throws ValidationFailed for an incomplete address; NotFound without a connected creator
 */
export function preparePlacement(caller: Caller, order: PlaceOrderDto, key: string | undefined): Placement {
  const { shipping_address: address } = order;
  const missing = missingAddressParts(address, requiredFieldsOf(address.country_code));
  if (missing.length > 0) throw new ValidationFailed(missing);
  const creatorId = caller.creatorId ?? throwNotFound('connected creator');
  const orderId = uuidv7();
  // No client can send this key, since a key contains no space.
  const keyScope = { creatorId, clientId: caller.clientId, key: key ?? `order ${orderId}` };
  return { caller, creatorId, order, orderId, keyScope };
}
