import { createApiDocument, type OpenApiDocument, type ServiceReference } from '@fulfilment/api-reference';
import { storeScopes } from '@fulfilment/contracts';
import { builtInRoutes } from '@fulfilment/http-service/built-in-routes';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { root } from '../dev/settings.ts';
import { creatorDescription } from './creator-description.ts';
import { storeDescription } from './store-description.ts';

/** The OpenAPI document of the Store API, composed of the parts of the two services that serve it. */
export async function storeReference(): Promise<OpenApiDocument> {
  return createApiDocument({
    api: 'store',
    info: {
      title: 'Store API',
      version: '1.0.0',
      summary: 'Catalogue, shipping, orders and webhooks of a creator.',
      description: storeDescription,
    },
    scopes: storeScopes,
    services: [
      await readReferenceOf('store-api'),
      await readReferenceOf('webhook-worker'),
      builtInRoutes('store', 'Store API', Object.keys(storeScopes)),
    ],
  });
}

/** The OpenAPI document of the Creator API, which creator-api alone serves. */
export async function creatorReference(): Promise<OpenApiDocument> {
  return createApiDocument({
    api: 'creator',
    info: {
      title: 'Creator API',
      version: '1.0.0',
      summary: 'Orders, sales, royalties and new releases of creators.',
      description: creatorDescription,
    },
    scopes: {},
    services: [await readReferenceOf('creator-api'), builtInRoutes('creator', 'Creator API', [])],
  });
}

/** The reference that a compiled service exports. */
async function readReferenceOf(service: string): Promise<ServiceReference> {
  const file = join(root, 'apps', service, 'dist', 'reference.js');
  const module: unknown = await import(pathToFileURL(file).href);
  return z.object({ reference: z.custom<ServiceReference>() }).parse(module).reference;
}
