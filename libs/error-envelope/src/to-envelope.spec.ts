import { NotFoundException } from '@nestjs/common';
import { DependencyUnavailable } from './dependency-unavailable.js';
import { Conflict, RateLimited, Unauthorized, Unprocessable, ValidationFailed } from './problems.js';
import { toErrorResponse } from './to-envelope.js';

describe('the error envelope', () => {
  it.each([
    [new ValidationFailed([{ field: 'a', reason: 'b' }]), 400, 'VALIDATION_ERROR', 'Bad Request'],
    [new Unauthorized('x', 'Bearer'), 401, 'UNAUTHORIZED', 'Unauthorized'],
    [new Conflict('x'), 409, 'CONFLICT', 'Conflict'],
    [new Unprocessable('x', []), 422, 'UNPROCESSABLE_ENTITY', 'Unprocessable Entity'],
    [new RateLimited(3), 429, 'RATE_LIMITED', 'Too Many Requests'],
    [new NotFoundException(), 404, 'NOT_FOUND', 'Not Found'],
    [
      Object.assign(new Error('x'), { type: 'entity.too.large', limit: 10 }),
      413,
      'VALIDATION_ERROR',
      'Payload Too Large',
    ],
    [new DependencyUnavailable('x'), 503, 'SERVICE_UNAVAILABLE', 'Service Unavailable'],
    [new Error('select secret'), 500, 'INTERNAL_ERROR', 'Internal Server Error'],
    ['a thrown string', 500, 'INTERNAL_ERROR', 'Internal Server Error'],
  ])('is the response to %s', (thrown, status, code, error) => {
    const response = toErrorResponse(thrown);
    expect(response).toMatchObject({ status, body: { statusCode: status, code, error } });
    expect(JSON.stringify(response.body)).not.toContain('secret');
  });

  it('comes with Retry-After when a retry may succeed', () => {
    expect(toErrorResponse(new RateLimited(0.2)).headers).toEqual({ 'Retry-After': '1' });
    expect(toErrorResponse(new DependencyUnavailable('x')).headers).toEqual({ 'Retry-After': '1' });
  });
});
