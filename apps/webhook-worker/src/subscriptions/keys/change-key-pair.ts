import { statement, type Transaction } from '@fulfilment/database';
import { ValidationFailed } from '@fulfilment/error-envelope';
import type { SecretBox } from '@fulfilment/runtime';
import { newPrivateKey } from './key-pairs.js';
import { openIfReadable } from './open-if-readable.js';
import type { SignatureVersion } from '../subscription.rules.js';

// The replaced key also signs for 24 hours, so that receivers have time to fetch the new JWKS.
const replaceKey = statement(
  'subscriptions.replace-signing-key',
  `UPDATE webhook_subscriptions SET
     previous_signing_key = $3,
     previous_signing_key_until = CASE WHEN $3::bytea IS NOT NULL THEN now() + interval '24 hours' END,
     signing_key = $2
   WHERE id = $1`,
);
const deleteKeys = statement(
  'subscriptions.delete-signing-keys',
  `UPDATE webhook_subscriptions SET signing_key = NULL, previous_signing_key = NULL, previous_signing_key_until = NULL
   WHERE id = $1`,
);

/** The keys of a locked subscription. */
export interface KeyState {
  readonly id: string;
  /** Sealed; null without `v1a`. */
  readonly signingKey: Buffer | null;
  /** Whether the key was replaced less than 24 hours ago. */
  readonly isRotating: boolean;
}

/**
 * Creates, replaces or deletes the key pair of a subscription. A key that was replaced less than 24 hours ago
 * is not replaced again: the request may be a retry, and receivers may not know the new key yet.
 * @throws ValidationFailed on `new_signing_key` without the signature `v1a`
 */
export async function changeKeyPair(
  tx: Transaction,
  box: SecretBox,
  { id, signingKey, isRotating }: KeyState,
  change: { readonly signature?: SignatureVersion; readonly new_signing_key?: boolean },
): Promise<void> {
  const hasKey = signingKey !== null;
  const wantsKey = change.signature === undefined ? hasKey : change.signature === 'v1a';
  if (change.new_signing_key === true && !wantsKey)
    throw new ValidationFailed([{ field: 'new_signing_key', reason: 'requires the signature v1a' }]);
  if (hasKey && !wantsKey) await tx.run(deleteKeys, [id]);
  const isNew = wantsKey && (!hasKey || (change.new_signing_key === true && !isRotating));
  if (!isNew) return;
  // A key that cannot be opened cannot sign, so it does not become the previous one.
  const previous = hasKey && openIfReadable(box, signingKey, id) !== undefined ? signingKey : null;
  await tx.run(replaceKey, [id, box.seal(newPrivateKey(), id), previous]);
}
