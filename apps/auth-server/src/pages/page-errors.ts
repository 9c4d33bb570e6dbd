/** Nobody is signed in in this browser, or not well enough. */
export class SignInNeeded extends Error {
  /** @param address where to sign in, to come back to the page */
  constructor(readonly address: string) {
    super('Somebody has to sign in first.');
  }
}

/** The sign-in this browser is in the middle of does not exist (any more). */
export class InteractionExpired extends Error {}
