/** Public addresses of a suite. */
export interface Addresses {
  readonly baseUrl: string;
  readonly authUrl: string;
}

/** Addresses of a local suite, which the committed documents contain. */
export const localAddresses: Addresses = {
  baseUrl: 'https://localhost:8443',
  authUrl: 'https://localhost:8443',
};
