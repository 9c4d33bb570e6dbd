import { parsePublicId, publicId } from '@fulfilment/contracts';

/** Returns the public id of an event: the same for all its subscriptions and attempts. */
export function eventPublicId(id: string, { test }: { readonly test: boolean }): string {
  const text = publicId('evt', id);
  return test ? text.replace('evt_', 'evt_test_') : text;
}

/** Returns the UUID of an event from its public id; undefined for any other text. */
export function eventUuid(text: string): string | undefined {
  return parsePublicId('evt', text.replace(/^evt_test_/, 'evt_'));
}
