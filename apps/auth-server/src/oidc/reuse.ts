import type { KoaContextWithOIDC } from 'oidc-provider';

const arrivals = new WeakMap<object, number>();

/** Notes when a request came. */
export function noteArrival(ctx: object): void {
  arrivals.set(ctx, Date.now() / 1000);
}

/**
 * Whether a family ends now; oidc-provider asks when a code or refresh token comes again, and when one is revoked.
 * A replay ends the family (RFC 9700 §4.14.2). A request that had come before the token was consumed is no replay but one of
 * several sent at once: it is refused, and the one that won keeps what it got. Revoking an access token ends just that token.
 */
export async function endsFamily(ctx: KoaContextWithOIDC): Promise<boolean> {
  const { route, entities } = ctx.oidc;
  if (route === 'revocation') return entities.AccessToken === undefined;
  if (route !== 'token') return true;
  const consumed = await consumedAt(ctx);
  const arrived = arrivals.get(ctx);
  return consumed === undefined || arrived === undefined || arrived >= consumed;
}

async function consumedAt(ctx: KoaContextWithOIDC): Promise<number | undefined> {
  const { provider, entities, params } = ctx.oidc;
  const code = params?.code;
  const token =
    entities.RefreshToken ??
    (typeof code === 'string'
      ? await provider.AuthorizationCode.find(code, { ignoreExpiration: true })
      : undefined);
  const consumed: unknown = token === undefined ? undefined : Reflect.get(token, 'consumed');
  return typeof consumed === 'number' ? consumed : undefined;
}
