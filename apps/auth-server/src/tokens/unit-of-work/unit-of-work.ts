import { Injectable } from '@nestjs/common';
import { Database, type OpenTransaction, type Sql, type Transaction } from '@fulfilment/database';
import { AsyncLocalStorage } from 'node:async_hooks';
import { type AuditEntry, AuditLog, insertAudit, type Origin } from '../../audit/audit-log.js';
import { DenyList, type RevokedToken } from '../../revocation/deny-list.js';
import { DeferredTokens } from './deferred-tokens.js';
import { TokenWriter, writeOne } from './token-writes.js';

/** The writes of one request. */
interface Unit {
  /** Opened by the first write that cannot be deferred to the commit. */
  opening: Promise<OpenTransaction> | undefined;
  tokens: DeferredTokens;
  readonly auditRecords: { readonly entry: AuditEntry; readonly origin: Origin }[];
  readonly revoked: RevokedToken[];
}

/**
 * Makes the writes of oidc-provider in one request atomic (ADR 10, ADR 12). `run` begins a unit, and the
 * other methods add to the unit of the current request. At its end one statement writes the tokens. That of
 * a refresh is its own transaction. Only a request with other writes, such as the audit record of an exchange
 * or the end of a family, opens one.
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
   * Returns the connection for writes that are not deferred: the unit's transaction, which the first call
   * opens; the pool outside a unit.
   */
  async openForWrites(): Promise<Sql> {
    const unit = this.current.getStore();
    return unit === undefined ? this.database : this.transactionOf(unit);
  }

  /**
   * Returns the connection for reads: the unit's transaction if a write has opened it, since a request holds
   * at most one connection; otherwise undefined, and the read uses the pool.
   */
  async currentTransaction(): Promise<Sql | undefined> {
    return (await this.current.getStore()?.opening)?.tx;
  }

  /** The unit's token writes, which are deferred to the commit; undefined outside a unit. */
  get deferredTokens(): DeferredTokens | undefined {
    return this.current.getStore()?.tokens;
  }

  /** Writes an audit record: in the unit's commit, unless that is rolled back; immediately outside a unit. */
  async writeAudit(entry: AuditEntry, origin: Origin): Promise<void> {
    const unit = this.current.getStore();
    if (unit === undefined) await this.audit.write(entry, origin);
    else unit.auditRecords.push({ entry, origin });
  }

  /**
   * Runs an action as one unit.
   * @param action returns what happens to its writes; `commit without tokens` discards the deferred tokens
   * @throws InvalidGrant when nothing was stored because another request was first or the family has ended;
   *   RoleChangedConcurrently when the person got another role during the request
   */
  async run(action: () => Promise<'commit' | 'commit without tokens' | 'roll back'>): Promise<void> {
    const unit: Unit = {
      opening: undefined,
      tokens: new DeferredTokens(),
      auditRecords: [],
      revoked: [],
    };
    try {
      const outcome = await this.current.run(unit, action);
      if (outcome === 'roll back') return await rollBack(unit);
      if (outcome === 'commit without tokens') unit.tokens = new DeferredTokens();
      await this.writeCollected(unit);
    } catch (error) {
      await rollBack(unit);
      throw error;
    }
    // The probe finds out whether a commit succeeded whose response was lost. Without it a client could have
    // a used token and no successor.
    await (await unit.opening)?.commit(unit.tokens.commitProbe);
    await this.denyList.publish(unit.revoked);
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

  /** Opens the unit's transaction at the first call. */
  private async transactionOf(unit: Unit): Promise<Transaction> {
    unit.opening ??= this.database.begin({ returnId: true });
    return (await unit.opening).tx;
  }

  /**
   * Writes the tokens and audit records: in the unit's transaction, or tokens alone in one statement, which
   * also commits those of other requests.
   */
  private async writeCollected(unit: Unit): Promise<void> {
    const { tokens, auditRecords } = unit;
    if (unit.opening === undefined && auditRecords.length === 0)
      return tokens.store((write) => this.tokenWriter.write(write));
    const tx = await this.transactionOf(unit);
    await tokens.store((write) => writeOne(tx, write));
    for (const { entry, origin } of auditRecords) await insertAudit(tx, entry, origin);
  }
}

async function rollBack(unit: Unit): Promise<void> {
  const open = await unit.opening?.catch(() => undefined); // nothing to roll back when it could not be opened
  await open?.rollback();
}
