import type { CommitProbe } from '@fulfilment/database';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { errors } from 'oidc-provider';
import { commitProbeOf, type NewRow, type TokenWrite, type TokenWriteResult } from './token-writes.js';

/** Another request consumed the token first. */
export class ConsumedConcurrently extends errors.InvalidGrant {
  constructor() {
    super({ detail: 'consumed by a concurrent request' });
  }
}

/** `error_detail` of a request whose token family has ended. */
export const familyEnded = 'the grant was revoked';

/**
 * The token writes of one request, collected while oidc-provider handles it: at most one code or refresh
 * token to consume, and the new tokens of its family.
 */
export class DeferredTokens {
  private consumption: { readonly model: string; readonly id: string } | undefined;
  private readonly members: NewRow[] = [];
  private roleVersion: string | undefined;

  get commitProbe(): CommitProbe | undefined {
    return commitProbeOf(this.members);
  }

  /** @throws Error for a second token: a request exchanges one code or refreshes one token */
  consume(model: string, id: string): void {
    if (this.consumption !== undefined) throw new Error('A token request must consume exactly one token.');
    this.consumption = { model, id };
  }

  /**
   * @param roleVersion the version of the Grant when the role in the new token was read; it changes when the
   *   person's role changes. Undefined if the Grant had none.
   * @throws Error for a member of no family or of another one
   */
  add(member: NewRow, roleVersion: string | undefined): void {
    const familyId = (this.members[0] ?? member).grant_id;
    if (member.grant_id === null || member.grant_id !== familyId)
      throw new Error('A token request must add to exactly one token family.');
    this.members.push(member);
    this.roleVersion = roleVersion;
  }

  /**
   * Stores the writes, if there are any.
   * @param write runs the statement
   * @throws InvalidGrant when another request was first or the family has ended; then nothing is stored
   * @throws DependencyUnavailable when the role of the person has changed; then nothing is stored, and a
   * retry gets tokens with the new role
   */
  async store(write: (tokens: TokenWrite) => Promise<TokenWriteResult | undefined>): Promise<void> {
    const { consumption, members } = this;
    if (consumption === undefined && members.length === 0) return;
    const written = await write({
      grant_id: members[0]?.grant_id ?? null,
      model: consumption?.model ?? null,
      id: consumption?.id ?? null,
      members,
      role_version: this.roleVersion ?? null,
    });
    if (written?.family_exists !== true) throw new errors.InvalidGrant({ detail: familyEnded });
    if (!written.role_current) throw new DependencyUnavailable('The role changed during the request.');
    if (consumption !== undefined && !written.consumed) throw new ConsumedConcurrently();
  }
}
