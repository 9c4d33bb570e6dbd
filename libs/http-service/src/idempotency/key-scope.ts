/** The scope of an `idempotency-key`: clients of one creator may use the same text. */
export interface KeyScope {
  readonly creatorId: string;
  readonly clientId: string;
  readonly key: string;
}
