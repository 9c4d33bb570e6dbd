/** The interaction that a page of a sign-in or consent belongs to. */
export interface InteractionContext {
  readonly uid: string;
  /** CSRF token of all forms but the consent form. */
  readonly csrf: string;
  readonly consentCsrf: string;
  readonly appName: string;
  /** Where else the form of the page may redirect to (page.ts). */
  readonly formActionSources: readonly string[];
}
