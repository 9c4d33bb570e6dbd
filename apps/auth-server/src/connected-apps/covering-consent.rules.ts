/** A stored consent. */
export interface Consent {
  readonly creator_id: string | null;
  readonly scopes: readonly string[];
}

/**
 * Returns the one consent that covers all requested scopes, so that no consent page is needed; undefined when
 * none does, or when several do, since then the person must select the creator.
 */
export function coveringConsent(
  consents: readonly Consent[],
  requested: readonly string[],
): Consent | undefined {
  const covering = consents.filter(({ scopes }) => requested.every((scope) => scopes.includes(scope)));
  return covering.length === 1 ? covering[0] : undefined;
}
