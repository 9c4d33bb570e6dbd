/** The source of a client's access tokens, e.g. a `Session`. */
export interface TokenSource {
  /** Returns the current access token. */
  accessToken(): Promise<string>;
  /** Returns another access token after an API rejected this one with 401. */
  renew(rejected: string): Promise<string>;
}
