/** The browser has no session, or the person of its session must sign in again. */
export class SignInNeeded extends Error {
  /** @param signInUrl where the person signs in; the sign-in then returns to the page */
  constructor(readonly signInUrl: string) {
    super('The person must sign in first.');
  }
}

/**
 * The interaction does not exist, has expired or belongs to another browser, or its client was deleted or its
 * person disabled.
 */
export class InteractionExpired extends Error {}
