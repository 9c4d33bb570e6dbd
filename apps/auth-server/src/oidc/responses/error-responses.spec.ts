import { NotFound, ServiceUnavailable } from '@fulfilment/error-envelope';
import { z } from 'zod';
import { errorResponseAt } from './error-responses.js';

describe('an error response outside of the browser routes', () => {
  it('has the members of RFC 6749 below the mount path, and not at a path that only begins like it', () => {
    const membersAt = (path: string) =>
      Object.keys(
        z.record(z.string(), z.unknown()).parse(JSON.parse(errorResponseAt(path, new NotFound('path')).body)),
      );
    expect(membersAt('/api/auth/nothing')).toContain('error_description');
    expect(membersAt('/api/authors')).not.toContain('error_description');
  });
});

describe('the response while the signing keys are not loaded', () => {
  it('is a page with Retry-After on a route that people open in a browser', () => {
    const { status, headers, body } = errorResponseAt('/api/auth/oauth2/authorize', new ServiceUnavailable());
    expect([status, headers['Retry-After']]).toEqual([503, '2']);
    expect(body).toContain('<h1>This page is temporarily unavailable</h1>');
  });

  it('is JSON at the endpoints for clients', () => {
    const { status, body } = errorResponseAt('/api/auth/oauth2/token', new ServiceUnavailable());
    expect([status, JSON.parse(body)]).toMatchObject([503, { error: 'temporarily_unavailable' }]);
  });
});
