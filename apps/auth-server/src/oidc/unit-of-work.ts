import type { Database, Sql, Transaction } from '@fulfilment/database';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { DenyList, RevokedToken } from '../revocation/deny-list.js';

interface Work {
  readonly tx: Transaction;
  readonly revoked: RevokedToken[];
}

/** Undoes the work without being an error. */
class Undo extends Error {}

/**
 * Makes what oidc-provider stores within one request one transaction. Exactly one of several parallel exchanges of a code or
 * refresh token can win then: the others wait for its row and find it consumed, and whoever sees it consumed sees its successor too.
 */
export class UnitOfWork {
  private readonly current = new AsyncLocalStorage<Work>();

  constructor(
    private readonly database: Database,
    private readonly denyList: DenyList,
  ) {}

  /** The open transaction, or the pool. */
  get sql(): Sql {
    return this.current.getStore()?.tx ?? this.database;
  }

  /** @param work answers whether what it did is kept */
  async run(work: () => Promise<boolean>): Promise<void> {
    const revoked: RevokedToken[] = [];
    try {
      await this.database.transaction(
        (tx) =>
          this.current.run({ tx, revoked }, async () => {
            if (!(await work())) throw new Undo();
          }),
        { certain: true }, // else a client could be left with a token that was used and without its successor
      );
    } catch (error) {
      if (error instanceof Undo) return;
      throw error;
    }
    await this.denyList.tell(revoked);
  }

  /** Ends access tokens: in the open transaction, else in one of its own. The APIs are told after the commit. */
  async revoking(work: (tx: Transaction) => Promise<readonly RevokedToken[]>): Promise<void> {
    const open = this.current.getStore();
    if (open !== undefined) {
      open.revoked.push(...(await work(open.tx)));
      return;
    }
    await this.denyList.tell(await this.database.transaction(work));
  }
}
