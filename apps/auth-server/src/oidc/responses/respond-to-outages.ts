import { DependencyUnavailable, ServiceUnavailable } from '@fulfilment/error-envelope';
import type { Logger } from '@fulfilment/runtime';
import type { KoaContextWithOIDC, default as Provider } from 'oidc-provider';
import { isBrowserRoute, mountPath } from '../../http/route-kind.rules.js';
import { outageHeaders, unavailablePage } from '../../pages/message.page.js';
import { sendPage } from '../../pages/provider-pages.js';

const unavailable = {
  error: 'temporarily_unavailable',
  error_description: 'The service is temporarily unavailable.',
};

/**
 * Logs the cause of every server error of oidc-provider. Responds to an unavailable dependency, and to a
 * conflict that a retry resolves, with 503 and `Retry-After`, in place of oidc-provider's 500.
 */
export function respondToOutages(provider: Provider, logger: Logger) {
  /** The causes of `server_error` responses, by request. */
  const failures = new WeakMap<object, unknown>();
  provider.on('server_error', (ctx, error) => failures.set(ctx.req, error));
  return async (
    ctx: Pick<KoaContextWithOIDC, 'req' | 'path' | 'status' | 'body' | 'set' | 'remove'>,
    next: () => Promise<unknown>,
  ): Promise<void> => {
    let failure: unknown;
    try {
      await next();
      failure = failures.get(ctx.req);
    } catch (error) {
      failure = error;
      ctx.status = 500;
      ctx.body = { error: 'server_error', error_description: 'An unexpected error occurred on the server.' };
    }
    if (failure === undefined) return;
    const isConflict = failure instanceof ServiceUnavailable;
    if (!isConflict) logger.error({ error: failure }, 'A request to the authorization server failed.');
    if (!isConflict && !(failure instanceof DependencyUnavailable)) return;
    ctx.remove('Location');
    if (isBrowserRoute(`${mountPath}${ctx.path}`)) return sendPage(ctx, unavailablePage());
    ctx.status = 503;
    ctx.set(outageHeaders);
    ctx.body = unavailable;
  };
}
