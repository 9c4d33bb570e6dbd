import { errors, type KoaContextWithOIDC } from 'oidc-provider';

/** Answers go in the query alone: other ways need a page with a script, which no page of ours has (OAuth 2.1 §7.13). */
export function refuseOtherResponseModes(ctx: KoaContextWithOIDC): void {
  const { params } = ctx.oidc;
  const asked = params?.['response_mode'];
  if (params === undefined || asked === undefined || asked === 'query') return;
  params['response_mode'] = undefined; // so that the refusal itself goes in the query
  throw new errors.InvalidRequest('response_mode must be query');
}

/** The metadata name those that there are (RFC 8414 §2); oidc-provider's own list is fixed. */
export async function nameResponseModes(
  ctx: { body?: unknown },
  next: () => Promise<unknown>,
): Promise<void> {
  await next();
  if (typeof ctx.body === 'object' && ctx.body !== null && 'response_modes_supported' in ctx.body)
    ctx.body = { ...ctx.body, response_modes_supported: ['query'] };
}
