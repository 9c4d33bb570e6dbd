import { sendError } from './provider-pages.js';

describe('sendError', () => {
  it.each([
    ['authorization', '/oauth2/authorize', 'invalid_client', 400, 'The app sent an invalid request'],
    ['authorization', '/oauth2/authorize', 'server_error', 500, 'Something went wrong'],
    ['resume', '/oauth2/authorize/8hHc3', 'invalid_request', 400, 'This sign-in has expired'],
    ['end_session', '/oauth2/end-session', 'invalid_request', 400, 'The app sent an invalid request'],
    ['end_session_confirm', '/oauth2/end-session/confirm', 'invalid_request', 400, 'This page has expired'],
  ])('shows a page at the route %s (%s) for the error %s', (route, path, error, status, title) => {
    const ctx = { path, oidc: { route }, status, body: undefined, type: '', set: () => undefined };
    sendError(ctx, { error });
    expect(ctx.status).toBe(status);
    expect(ctx.body).toContain(`<h1>${title}</h1>`);
    expect(ctx.body).toContain(`Reason: ${error}`);
  });

  it('sends JSON at an endpoint for clients', () => {
    const out = { error: 'invalid_grant', error_description: 'grant request is invalid' };
    const oidc = { route: 'token' };
    const ctx = { path: '/oauth2/token', oidc, status: 400, body: undefined, type: '', set: () => undefined };
    sendError(ctx, out);
    expect(ctx).toMatchObject({ type: 'json', status: 400, body: out });
  });
});
