import { DocumentedResponses, type ActualResponse } from './documented-responses.js';
import { readDocument } from './read-document.js';

const documented = new DocumentedResponses(readDocument('store'), '/store');
const requestId = { 'x-request-id': 'r-1' };
const json = { ...requestId, 'content-type': 'application/json; charset=utf-8' };
const order = { id: 'ord_1', status: 'processing' };

function response(path: string, given: Partial<ActualResponse>, method = 'GET'): ActualResponse {
  const { body } = given;
  return {
    status: 200,
    headers: json,
    body,
    text: JSON.stringify(body) ?? '',
    request: { method, url: path },
    ...given,
  };
}
const placed = (given: Partial<ActualResponse>) =>
  response(
    '/store/v1/orders?x=1',
    { status: 201, body: order, headers: { ...json, location: 'https://shop.example/1' }, ...given },
    'POST',
  );

describe('the check of a response against the OpenAPI document', () => {
  it('accepts a documented response, and any response of another API', () => {
    expect(() => documented.check(placed({}))).not.toThrow();
    expect(() =>
      documented.check(
        response('/store/health/live', {
          body: { status: 'ok' },
          headers: { ...json, 'cache-control': 'no-store' },
        }),
      ),
    ).not.toThrow();
    expect(() => documented.check(response('/creator/anything', { status: 299 }))).not.toThrow();
  });

  it.each([
    ['an undocumented status', placed({ status: 202 }), 'the status is not documented'],
    ['an undocumented member', placed({ body: { ...order, more: 1 } }), 'additional properties'],
    ['an undocumented value', placed({ body: { ...order, status: 'lost' } }), 'allowed values'],
    ['a missing member', placed({ body: { id: 'ord_1' } }), "required property 'status'"],
    [
      'an undocumented header',
      placed({ headers: { ...json, location: 'https://shop.example/1', etag: '"1"' } }),
      'the header etag is not documented',
    ],
    ['a missing header', placed({ headers: json }), 'the header location is missing'],
    [
      'an undocumented content type',
      placed({ headers: { ...requestId, 'content-type': 'text/html', location: 'https://shop.example/1' } }),
      'the content type text/html is not documented',
    ],
    [
      'an undocumented operation',
      response('/store/v1/orders', { body: {} }, 'DELETE'),
      'no operation is documented at this method and path',
    ],
    [
      'an undocumented body',
      response('/store/v1/webhooks/whk_1', { status: 204, headers: requestId, text: 'x' }, 'DELETE'),
      'it has a body, but none is documented',
    ],
    [
      'an undocumented error code',
      response('/store/v1/orders/ord_1', {
        status: 404,
        body: { statusCode: 404, code: 'GONE', error: 'x', message: 'x' },
      }),
      'allowed values',
    ],
  ])('rejects a response with %s', (_, actual, violation) => {
    expect(() => documented.check(actual)).toThrow(violation);
    expect(documented.violations.splice(0).join()).toContain(violation);
  });
});
