/** Decoded parts of the URL of a store, empty if it lacks them; the path has no leading slash. */
export interface StoreUrl {
  readonly user: string;
  readonly password: string;
  readonly path: string;
}

/** A comma before a scheme separates the nodes of `RABBITMQ_URL`. Other commas may be in a password. */
const betweenNodes = /,(?=\w+:\/\/)/;

/** Returns the parts of the first URL, or undefined if it is invalid or has a `%` that encodes nothing. */
export function parseStoreUrl(text: string): StoreUrl | undefined {
  const url = URL.parse(text.split(betweenNodes)[0] ?? '');
  if (url === null) return undefined;
  try {
    return {
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      path: decodeURIComponent(url.pathname.slice(1)),
    };
  } catch {
    return undefined;
  }
}
