import { type SecretBox, UnreadableSecret } from '@fulfilment/runtime';

/** Returns undefined if no configured key opens the secret, so that its owner can replace it. */
export function openIfReadable(box: SecretBox, sealed: Buffer, owner: string): Buffer | undefined {
  try {
    return box.open(sealed, owner);
  } catch (error) {
    if (error instanceof UnreadableSecret) return undefined;
    throw error;
  }
}
