import { type Client as CreatorClient, createCreatorClient } from '@fulfilment/client/creator';
import { createStoreClient, type Client as StoreClient } from '@fulfilment/client/store';
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import { Failure } from '../dev/failure.ts';
import type { Stack } from '../dev/stack-file.ts';

/** Fetches with trust in the suite's own certificate authority. */
export function fetchTrusting(ca: string | undefined): typeof fetch {
  const dispatcher = new Agent({ connect: { ca } });
  return (input, init) => fetch(input, { ...init, dispatcher });
}

/** A client of the Store API with a token. Its operations throw a Failure. */
export function openStore(stack: Stack, token: string): StoreClient {
  return failing(createStoreClient({ ...trusted(stack), baseUrl: `${stack.base_url}/store`, auth: token }));
}

/** A client of the Creator API with a token. Its operations throw a Failure. */
export function openCreator(stack: Stack, token: string): CreatorClient {
  return failing(
    createCreatorClient({ ...trusted(stack), baseUrl: `${stack.base_url}/creator`, auth: token }),
  );
}

function trusted({ ca_file }: Stack) {
  return { fetch: fetchTrusting(readFileSync(ca_file, 'utf8')) };
}

function failing(client: StoreClient): StoreClient {
  client.interceptors.error.use((error, _response, request) => {
    const reason = error instanceof Error ? error.message : String(error);
    return new Failure(`${request?.method} ${request?.url}: ${reason}`);
  });
  return client;
}
