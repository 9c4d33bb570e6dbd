import { sendError } from './provider-pages.js';

describe('sendError', () => {
  it.each([
    ['authorization', 'invalid_client', 400, 'The app sent an invalid request'],
    ['authorization', 'server_error', 500, 'Something went wrong'],
    ['resume', 'invalid_request', 400, 'This sign-in has expired'],
    ['end_session', 'invalid_request', 400, 'The app sent an invalid request'],
    ['end_session_confirm', 'invalid_request', 400, 'This page has expired'],
  ])('shows a page at the route %s for the error %s', (route, error, status, title) => {
    const ctx = { oidc: { route }, status, body: undefined, type: '', set: () => undefined };
    sendError(ctx, { error });
    expect(ctx.status).toBe(status);
    expect(ctx.body).toContain(`<h1>${title}</h1>`);
    expect(ctx.body).toContain(`Reason: ${error}`);
  });

  it('sends JSON at an endpoint for clients', () => {
    const out = { error: 'invalid_grant', error_description: 'grant request is invalid' };
    const ctx = { oidc: { route: 'token' }, status: 400, body: undefined, type: '', set: () => undefined };
    sendError(ctx, out);
    expect(ctx).toMatchObject({ type: 'json', status: 400, body: out });
  });
});
