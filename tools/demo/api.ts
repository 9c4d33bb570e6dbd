import { createCreatorClient } from '@fulfilment/client/creator';
import { type Client, createStoreClient } from '@fulfilment/client/store';
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import { Failure, reasonOf } from '../dev/failure.ts';
import type { Stack } from '../dev/state/stack-file.ts';

/** Fetches with trust in the suite's own certificate authority. */
export function fetchTrusting(ca: string | undefined): typeof fetch {
  const dispatcher = new Agent({ connect: { ca } });
  return (input, init) => fetch(input, { ...init, dispatcher });
}

/** Returns a client of the Store API, whose operations throw a Failure. */
export function openStore(stack: Stack, token: string): Client {
  return withFailures(createStoreClient(clientOptions(stack, 'store', token)));
}

/** Returns a client of the Creator API, whose operations throw a Failure. */
export function openCreator(stack: Stack, token: string): Client {
  return withFailures(createCreatorClient(clientOptions(stack, 'creator', token)));
}

function clientOptions({ ca_file, base_url }: Stack, api: 'store' | 'creator', token: string) {
  return {
    fetch: fetchTrusting(readFileSync(ca_file, 'utf8')),
    baseUrl: `${base_url}/${api}`,
    auth: token,
  };
}

/** Makes operations throw a Failure. The clients of both APIs have the same type. */
function withFailures(client: Client): Client {
  client.interceptors.error.use((error, _response, request) => {
    return new Failure(`${request?.method} ${request?.url}: ${reasonOf(error)}`);
  });
  return client;
}
