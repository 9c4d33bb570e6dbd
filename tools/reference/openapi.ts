import { apiDocument, type ApiPart, apiPartShape, type OpenApiDocument } from '@fulfilment/api-reference';
import { storeScopes } from '@fulfilment/contracts';
import { serviceReference } from '@fulfilment/http-service/service-reference';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { root } from '../dev/settings.ts';
import { creatorDescription } from './creator-description.ts';
import { storeDescription } from './store-description.ts';

/** The OpenAPI document of the Store API, composed of the parts of the two services that serve it. */
export async function storeReference(): Promise<OpenApiDocument> {
  return apiDocument({
    info: {
      title: 'Store API',
      version: '1.0.0',
      summary: 'Catalogue, shipping, orders and webhooks of a creator.',
      description: storeDescription,
    },
    prefix: 'store',
    scopes: storeScopes,
    parts: [
      await makePart('store-api'),
      await makePart('webhook-worker'),
      serviceReference({ api: 'store', name: 'Store API', scopes: Object.keys(storeScopes) }),
    ],
  });
}

/** The OpenAPI document of the Creator API, which creator-api alone serves. */
export async function creatorReference(): Promise<OpenApiDocument> {
  return apiDocument({
    info: {
      title: 'Creator API',
      version: '1.0.0',
      summary: 'Orders, sales, royalties and new releases of creators.',
      description: creatorDescription,
    },
    prefix: 'creator',
    scopes: {},
    parts: [
      await makePart('creator-api'),
      serviceReference({ api: 'creator', name: 'Creator API', scopes: [] }),
    ],
  });
}

/** The part of the API document that a compiled service exports. */
async function makePart(service: string): Promise<ApiPart> {
  const module: unknown = await import(
    pathToFileURL(join(root, 'apps', service, 'dist', 'reference.js')).href
  );
  return z.object({ reference: apiPartShape }).parse(module).reference;
}
