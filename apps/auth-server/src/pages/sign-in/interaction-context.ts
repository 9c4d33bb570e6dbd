/** The interaction that a page of a sign-in or consent belongs to. */
export interface InteractionContext {
  readonly uid: string;
  /** CSRF token of the forms, except that of the consent. */
  readonly csrf: string;
  readonly appName: string;
  /** See `PageParts`. */
  readonly formTargets: readonly string[];
}
