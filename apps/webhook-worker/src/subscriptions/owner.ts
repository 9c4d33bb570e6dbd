import { isUuid, parsePublicId } from '@fulfilment/contracts';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';

/** Owner of a subscription: a client, for one creator. */
export interface Owner {
  readonly creatorId: string;
  readonly clientId: string;
}

/** Returns undefined if the access is not connected to a creator: then there is nothing to subscribe to. */
export function ownerOf(caller: Caller): Owner | undefined {
  const { creatorId, clientId } = caller;
  return creatorId === undefined || !isUuid(creatorId) ? undefined : { creatorId, clientId };
}

/**
 * Returns the owner and UUID of a subscription in a path.
 * @param webhookId public id (`whk_…`)
 * @throws NotFound on a malformed id or a caller without a creator
 */
export function ownedId(caller: Caller, webhookId: string): Owner & { readonly id: string } {
  const owner = ownerOf(caller) ?? throwNotFound('webhook subscription');
  return { ...owner, id: parsePublicId('whk', webhookId) ?? throwNotFound('webhook subscription') };
}
