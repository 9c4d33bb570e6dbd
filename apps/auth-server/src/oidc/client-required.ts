interface Context {
  status: number;
  body?: unknown;
  set(name: string, value: string): void;
}

/** Introspection and revocation without a word of who asks is 401 `invalid_client` (RFC 7662 §2.3, RFC 6749 §5.2); oidc-provider says 400. */
export async function requireClient(ctx: Context, next: () => Promise<unknown>): Promise<void> {
  await next();
  if (ctx.status !== 400 || !isMissingClient(ctx.body)) return;
  ctx.status = 401;
  ctx.set('WWW-Authenticate', 'Basic realm="clients"');
  ctx.body = { error: 'invalid_client', error_description: 'client authentication is required' };
}

function isMissingClient(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  return Reflect.get(body, 'error_description') === 'no client authentication mechanism provided';
}
