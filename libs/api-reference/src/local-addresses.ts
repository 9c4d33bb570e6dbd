/** Where the document's readers find the suite. */
export interface Addresses {
  readonly baseUrl: string;
  readonly authUrl: string;
}

/** The addresses of a suite on one's own machine, which a committed document names. */
export const localAddresses: Addresses = {
  baseUrl: 'https://localhost:8443',
  authUrl: 'https://localhost:8443',
};
