/** The browser has no session, or its session lacks a required factor. */
export class SignInNeeded extends Error {
  /** @param address URL of the sign-in, which returns to the page */
  constructor(readonly address: string) {
    super('The person must sign in first.');
  }
}

/** The interaction does not exist, has expired or belongs to another browser. */
export class InteractionExpired extends Error {}
