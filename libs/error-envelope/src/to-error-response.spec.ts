import { NotFoundException } from '@nestjs/common';
import { DependencyUnavailable } from './dependency-unavailable.js';
import { Conflict, RateLimited, Unauthorized, Unprocessable, ValidationFailed } from './problems.js';
import { toErrorResponse } from './to-error-response.js';

describe('toErrorResponse', () => {
  it.each<[string, unknown, number, string, string]>([
    ['ValidationFailed', new ValidationFailed([]), 400, 'VALIDATION_ERROR', 'Bad Request'],
    ['Unauthorized', new Unauthorized('x', 'Bearer'), 401, 'UNAUTHORIZED', 'Unauthorized'],
    ['Conflict', new Conflict('x'), 409, 'CONFLICT', 'Conflict'],
    ['Unprocessable', new Unprocessable('x', []), 422, 'UNPROCESSABLE_ENTITY', 'Unprocessable Entity'],
    ['RateLimited', new RateLimited(3), 429, 'RATE_LIMITED', 'Too Many Requests'],
    ["Nest's NotFoundException", new NotFoundException(), 404, 'NOT_FOUND', 'Not Found'],
    [
      'a body that is too large',
      Object.assign(new Error('x'), { type: 'entity.too.large', limit: 10 }),
      413,
      'VALIDATION_ERROR',
      'Payload Too Large',
    ],
    [
      'DependencyUnavailable',
      new DependencyUnavailable('x'),
      503,
      'SERVICE_UNAVAILABLE',
      'Service Unavailable',
    ],
    ['any other error', new Error('select secret'), 500, 'INTERNAL_ERROR', 'Internal Server Error'],
    ['a thrown string', 'a secret', 500, 'INTERNAL_ERROR', 'Internal Server Error'],
  ])(
    'maps %s to its response, without the text of an unexpected error',
    (_name, thrown, status, code, error) => {
      const response = toErrorResponse(thrown);
      expect(response).toMatchObject({ status, body: { statusCode: status, code, error } });
      expect(JSON.stringify(response.body)).not.toContain('secret');
    },
  );

  it('sets Retry-After, at least 1 s, when a retry may succeed', () => {
    expect(toErrorResponse(new RateLimited(0.2)).headers).toEqual({ 'Retry-After': '1' });
    expect(toErrorResponse(new DependencyUnavailable('x')).headers).toEqual({ 'Retry-After': '1' });
  });
});
