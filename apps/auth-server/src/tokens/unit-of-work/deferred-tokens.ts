import type { CommitProbe } from '@fulfilment/database';
import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { errors } from 'oidc-provider';
import { commitProbeOf, type NewRow, type TokenWrite, type TokenWriteResult } from './token-writes.js';

/** Another request consumed the token first. */
export class ConsumedConcurrently extends errors.InvalidGrant {
  constructor() {
    super({ detail: 'consumed by a concurrent request' });
  }
}

/** The family of the new tokens does not exist any more. */
export class FamilyEnded extends errors.InvalidGrant {
  constructor() {
    super({ detail: 'the token family has ended' });
  }
}

/** The role of the person changed during the request. A retry gets tokens with the new role. */
export class RoleChangedConcurrently extends ServiceUnavailable {}

/**
 * The token writes of one request, collected while oidc-provider handles it: a code or refresh token to
 * consume, and the new tokens of its family.
 */
export class DeferredTokens {
  private consumption: { readonly model: string; readonly id: string } | undefined;
  private family: { readonly id: string; readonly roleVersion: string | undefined } | undefined;
  private readonly newTokens: NewRow[] = [];

  get commitProbe(): CommitProbe | undefined {
    return commitProbeOf(this.newTokens);
  }

  /** @throws Error for a second token: a request exchanges one code or refreshes one token */
  consume(model: string, id: string): void {
    if (this.consumption !== undefined) throw new Error('A token request must consume exactly one token.');
    this.consumption = { model, id };
  }

  /**
   * @param roleVersion `roleVersion` of the request's Grant when it was read; undefined if it had none. It
   *   changes when the person's role changes.
   * @throws Error for a token without a family, or of a second family
   */
  add(token: NewRow, roleVersion: string | undefined): void {
    const { grant_id: id } = token;
    if (id !== null) this.family ??= { id, roleVersion };
    if (id !== this.family?.id) throw new Error('A token request must add to exactly one token family.');
    this.newTokens.push(token);
  }

  /**
   * Stores the writes, if there are any.
   * @param write runs the statement
   * @throws ConsumedConcurrently | FamilyEnded | RoleChangedConcurrently then nothing is stored
   * @throws Error for a token to consume without new ones, or the reverse
   */
  async store(write: (tokens: TokenWrite) => Promise<TokenWriteResult | undefined>): Promise<void> {
    const { consumption, family, newTokens } = this;
    if (consumption === undefined && family === undefined) return;
    if (consumption === undefined || family === undefined)
      throw new Error('A token request must consume a token and store new ones.');
    const written = await write({
      ...consumption,
      grant_id: family.id,
      members: newTokens,
      role_version: family.roleVersion ?? null,
    });
    if (written?.family_exists !== true) throw new FamilyEnded();
    if (!written.role_current) throw new RoleChangedConcurrently();
    if (!written.consumed) throw new ConsumedConcurrently();
  }
}
