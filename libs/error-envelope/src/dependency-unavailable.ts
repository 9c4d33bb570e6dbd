/**
 * A dependency did not respond, or not in time, so a retry may succeed. Thrown where its client is used, with
 * the client's error as `cause`. HTTP clients get a 503.
 */
export class DependencyUnavailable extends Error {
  override readonly name = 'DependencyUnavailable';
}
