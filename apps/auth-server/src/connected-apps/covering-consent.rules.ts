/** A remembered consent. */
export interface Consent {
  readonly creator_id: string | null;
  readonly scopes: readonly string[];
}

/**
 * The creator of an authorization that needs no question: the consent that covers all that is asked for. Undefined when none
 * does, or when several do, since then the person has to say which creator is meant.
 */
export function coveringConsent(consents: readonly Consent[], asked: readonly string[]): Consent | undefined {
  const covering = consents.filter(({ scopes }) => asked.every((scope) => scopes.includes(scope)));
  return covering.length === 1 ? covering[0] : undefined;
}
