import type Provider from 'oidc-provider';
import { endSessions } from './end-sessions.js';
import type { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';

/**
 * Makes a sign-out end the tokens of the browser's session in the commit that deletes the session, and
 * prevents a request in progress from saving it again. oidc-provider would only treat these tokens as
 * inactive at introspection (`expiresWithSession`); the APIs would still accept them.
 */
export function endTokensWithSession(provider: Provider, unitOfWork: UnitOfWork): void {
  provider.Session.prototype.destroy = async function () {
    const { accountId, uid } = this;
    if (accountId === undefined) await this.adapter.destroy(this.jti);
    else await unitOfWork.runRevocation((tx) => endSessions(tx, accountId, [uid]));
    this.destroyed = true;
  };
}
