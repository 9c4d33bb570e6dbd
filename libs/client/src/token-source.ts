/** The source of a client's access tokens, e.g. a `Session`. */
export interface TokenSource {
  /** Returns a token that has not expired, as far as is known. */
  accessToken(): Promise<string>;
  /** Returns another token after an API rejected this one with 401. Called at most once for each request. */
  renew(rejected: string): Promise<string>;
}
