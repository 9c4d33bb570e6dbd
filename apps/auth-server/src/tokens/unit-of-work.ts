import { Injectable } from '@nestjs/common';
import { Database, type OpenTransaction, type Sql, type Transaction } from '@fulfilment/database';
import { AsyncLocalStorage } from 'node:async_hooks';
import { errors } from 'oidc-provider';
import { AuditLog, insertAudit, type PendingAuditRecord } from '../audit/audit-log.js';
import { DenyList, type RevokedToken } from '../revocation/deny-list.js';
import { TokenWriter, TokenWrites } from './token-writes.js';

/** The writes of one request. */
interface Unit {
  /** Opened by the first write that cannot be deferred to the commit. */
  opening: Promise<OpenTransaction> | undefined;
  readonly tokens: TokenWrites;
  readonly auditRecords: PendingAuditRecord[];
  readonly revoked: RevokedToken[];
  readonly afterCommit: (() => void)[];
}

/**
 * Makes the writes of oidc-provider in one request atomic (docs/adr/0010, 0012). Tokens are written at the
 * end by one statement, which is its own transaction. Only a request with other writes, such as the end of a
 * family, opens one.
 */
@Injectable()
export class UnitOfWork {
  private readonly current = new AsyncLocalStorage<Unit>();
  private readonly tokenWriter: TokenWriter;

  constructor(
    private readonly database: Database,
    private readonly denyList: DenyList,
    private readonly audit: AuditLog,
  ) {
    this.tokenWriter = new TokenWriter(database);
  }

  /**
   * Connection for writes that are not deferred: the unit's transaction, opened if necessary; the pool
   * outside a unit.
   */
  async sql(): Promise<Sql> {
    const unit = this.current.getStore();
    return unit === undefined ? this.database : this.transactionOf(unit);
  }

  /** The unit's transaction if it is open. Reads use it, since a request holds at most one connection. */
  async currentTransaction(): Promise<Sql | undefined> {
    return (await this.current.getStore()?.opening)?.tx;
  }

  /** Token writes that are deferred to the commit; undefined outside a unit. */
  get tokens(): TokenWrites | undefined {
    return this.current.getStore()?.tokens;
  }

  /**
   * Discards the token writes of a rejected request; its other writes, such as the end of a family, are
   * committed.
   */
  discardTokens(): void {
    this.current.getStore()?.tokens.clear();
  }

  /** Calls back after the commit, never after a rollback; immediately outside a unit. */
  afterCommit(callback: () => void): void {
    const unit = this.current.getStore();
    if (unit === undefined) callback();
    else unit.afterCommit.push(callback);
  }

  /** Writes an audit record in the unit's commit, not after a rollback; immediately outside a unit. */
  async writeAudit(record: PendingAuditRecord): Promise<void> {
    const unit = this.current.getStore();
    if (unit === undefined) await this.audit.write(record.origin, record.entry);
    else unit.auditRecords.push(record);
  }

  /**
   * Runs an action as one unit.
   * @param action returns whether to commit its writes
   * @returns the error when nothing was stored because another request was first
   */
  async run(action: () => Promise<boolean>): Promise<errors.InvalidGrant | undefined> {
    const unit: Unit = {
      opening: undefined,
      tokens: new TokenWrites(),
      auditRecords: [],
      revoked: [],
      afterCommit: [],
    };
    try {
      if (!(await this.current.run(unit, action))) {
        await rollBack(unit);
        return undefined;
      }
    } catch (error) {
      await rollBack(unit);
      throw error;
    }
    const rejection = await this.commit(unit);
    if (rejection !== undefined) return rejection;
    for (const callback of unit.afterCommit) callback();
    await this.denyList.publish(unit.revoked);
    return undefined;
  }

  /**
   * Revokes tokens in the unit's transaction, else in a new one, and publishes them to the APIs after the
   * commit.
   */
  async runRevocation(action: (tx: Transaction) => Promise<readonly RevokedToken[]>): Promise<void> {
    const unit = this.current.getStore();
    if (unit === undefined) await this.denyList.publish(await this.database.transaction(action));
    else unit.revoked.push(...(await action(await this.transactionOf(unit))));
  }

  private async transactionOf(unit: Unit): Promise<Transaction> {
    unit.opening ??= this.database.begin({ returnId: true });
    return (await unit.opening).tx;
  }

  private async commit(unit: Unit): Promise<errors.InvalidGrant | undefined> {
    const { tokens, auditRecords } = unit;
    try {
      if (unit.opening === undefined && auditRecords.length === 0) {
        if (!tokens.isEmpty) await tokens.store(this.tokenWriter);
        return undefined;
      }
      const tx = await this.transactionOf(unit);
      if (!tokens.isEmpty) await tokens.store(tx);
      for (const { origin, entry } of auditRecords) await insertAudit(tx, entry, origin);
    } catch (error) {
      await rollBack(unit);
      if (error instanceof errors.InvalidGrant) return error;
      throw error;
    }
    // With a probe, so that a lost commit response is resolved: else a client could lose its used token and
    // the successor.
    await (await unit.opening)?.commit(tokens.commitProbe);
    return undefined;
  }
}

async function rollBack(unit: Unit): Promise<void> {
  const open = await unit.opening?.catch(() => undefined); // nothing to roll back when it could not be opened
  await open?.rollback();
}
