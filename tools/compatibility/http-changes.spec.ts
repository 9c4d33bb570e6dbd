import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../dev/settings.ts';
import { httpBreaks } from './http-changes.ts';
import type { JsonObject } from './json-schema.ts';

const document = z.record(z.string(), z.unknown());
const store = readFileSync(join(root, 'docs', 'reference', 'store.openapi.json'), 'utf8');

interface Parts {
  readonly body?: JsonObject;
  readonly response?: JsonObject;
  readonly operation?: JsonObject;
  readonly status?: string;
  /** Further responses and paths. */
  readonly responses?: JsonObject;
  readonly paths?: JsonObject;
}

/** A document with the operation `POST /v1/orders`, and the further paths. */
function api({
  body,
  response = {},
  operation = {},
  status = '200',
  responses = {},
  paths = {},
}: Parts): JsonObject {
  const json = (schema: JsonObject) => ({ content: { 'application/json': { schema } } });
  const requestBody = body === undefined ? {} : { requestBody: json(body) };
  return {
    paths: {
      '/v1/orders': {
        post: { responses: { [status]: json(response), ...responses }, ...requestBody, ...operation },
      },
      ...paths,
    },
  };
}
const members = (properties: JsonObject, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const text = { type: 'string' };

describe('the comparison of two OpenAPI documents', () => {
  it('finds nothing in a document that did not change', () => {
    const same = document.parse(JSON.parse(store));
    expect(httpBreaks(same, same)).toEqual([]);
  });

  it('accepts additions: operations, optional members, parameters, error responses, values', () => {
    const before = api({
      body: members({ sku: text }, ['sku']),
      response: members({ status: { enum: ['paid'] } }, ['status']),
    });
    const after = api({
      body: members({ sku: text, note: text }, ['sku']),
      response: members({ status: { enum: ['paid', 'held'] }, note: text }, ['status', 'note']),
      operation: { parameters: [{ name: 'dry_run', in: 'query', schema: text }] },
      responses: { 409: { description: 'Sold out' } },
      paths: { '/v1/refunds': { get: { responses: { 200: { description: 'Refunds' } } } } },
    });
    expect(httpBreaks(before, after)).toEqual([]);
  });

  it.each<[string, Parts, Parts, string]>([
    [
      'a member of a response that is gone',
      { response: members({ id: text }, ['id']) },
      { response: members({}) },
      'response 200: id may be absent, but is required',
    ],
    [
      'a member of a response that became optional',
      { response: members({ id: text }, ['id']) },
      { response: members({ id: text }) },
      'response 200: id may be absent, but is required',
    ],
    [
      'a member of a response that may be null',
      { response: members({ id: text }, ['id']) },
      { response: members({ id: { anyOf: [text, { type: 'null' }] } }, ['id']) },
      'response 200: id may be null, but must be string',
    ],
    [
      'a type that changed inside a list',
      { response: { type: 'array', items: members({ total: { type: 'integer' } }) } },
      { response: { type: 'array', items: members({ total: text }) } },
      'response 200: [].total may be string, but must be integer',
    ],
    [
      'a new required member of a request',
      { body: members({ sku: text }, ['sku']) },
      { body: members({ sku: text, email: text }, ['sku', 'email']) },
      'body: email may be absent, but is required',
    ],
    [
      'a member of a request that is no longer known',
      { body: members({ sku: text, note: text }) },
      { body: members({ sku: text }) },
      'body: note is not known',
    ],
    [
      'a value of a request that is no longer accepted',
      { body: members({ method: { enum: ['card', 'invoice'] } }) },
      { body: members({ method: { enum: ['card'] } }) },
      'body: method may be "invoice", which is not known',
    ],
    [
      'a limit of a request that is tighter',
      { body: members({ sku: { type: 'string', maxLength: 50 } }) },
      { body: members({ sku: { type: 'string', maxLength: 20 } }) },
      'body: sku may violate maxLength 20, because its own maxLength is 50',
    ],
    [
      'a limit of a request that is new',
      { body: members({ sku: text }) },
      { body: members({ sku: { type: 'string', minLength: 1 } }) },
      'body: sku may violate minLength 1, because it has no minLength',
    ],
    [
      'a parameter that was removed',
      { operation: { parameters: [{ name: 'cursor', in: 'query', schema: text }] } },
      {},
      'parameter cursor was removed',
    ],
    [
      'a parameter that is required now',
      { operation: { parameters: [{ name: 'key', in: 'header', schema: text }] } },
      { operation: { parameters: [{ name: 'key', in: 'header', required: true, schema: text }] } },
      'parameter key is required now',
    ],
    ['another status of a success', { status: '200' }, { status: '202' }, 'may respond with 202 now'],
    [
      'a further scope',
      { operation: { security: [{ oauth: ['orders:read'] }] } },
      { operation: { security: [{ oauth: ['orders:read', 'orders:create'] }] } },
      'a token with orders:read is no longer sufficient',
    ],
  ])('finds %s', (_, before, after, finding) => {
    expect(httpBreaks(api(before), api(after))).toContain(`POST /v1/orders: ${finding}`);
  });

  it('finds an operation and a webhook that were removed', () => {
    const before = { ...api({}), webhooks: { 'order.created': { post: { responses: {} } } } };
    expect(httpBreaks(before, { paths: {} })).toEqual([
      'POST /v1/orders was removed',
      'Webhook order.created was removed',
    ]);
  });

  it('follows references and merges allOf', () => {
    const schemas = (order: JsonObject) => ({
      ...api({ response: { allOf: [{ $ref: '#/components/schemas/Order' }, members({ note: text })] } }),
      components: { schemas: { Order: order } },
    });
    expect(httpBreaks(schemas(members({ id: text }, ['id'])), schemas(members({})))).toEqual([
      'POST /v1/orders: response 200: id may be absent, but is required',
    ]);
  });
});
