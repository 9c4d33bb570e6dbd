import type { Database, OpenTransaction, Sql, Transaction } from '@fulfilment/database';
import { AsyncLocalStorage } from 'node:async_hooks';
import { errors } from 'oidc-provider';
import type { AuditLog, PendingRecord } from '../audit/audit-log.js';
import type { DenyList, RevokedToken } from '../revocation/deny-list.js';
import { TokenWriter, TokenWrites } from './token-writes.js';

interface Work {
  /** Opened by the first write that cannot wait for the end. */
  opening: Promise<OpenTransaction> | undefined;
  readonly tokens: TokenWrites;
  readonly records: PendingRecord[];
  readonly revoked: RevokedToken[];
  readonly whenKept: (() => void)[];
}

/**
 * Makes what oidc-provider stores within one request all or nothing (docs/adr/0010, 0012). Tokens are written at the end, by one
 * statement that is a transaction of its own; only a request that ends tokens, or does anything else, opens one.
 */
export class UnitOfWork {
  private readonly current = new AsyncLocalStorage<Work>();
  private readonly tokenWriter: TokenWriter;

  constructor(
    private readonly database: Database,
    private readonly denyList: DenyList,
    private readonly audit: AuditLog,
  ) {
    this.tokenWriter = new TokenWriter(database);
  }

  /** Where writes go that do not wait for the end: the unit's transaction, opened now if it is not yet, or the pool. */
  async sql(): Promise<Sql> {
    const work = this.current.getStore();
    return work === undefined ? this.database : this.transactionOf(work);
  }

  /** The unit's transaction if one is open: reads go through it, since a request holds one connection at most. */
  async openSql(): Promise<Sql | undefined> {
    return (await this.current.getStore()?.opening)?.tx;
  }

  /** Tokens that are stored at the end; undefined outside of a unit. */
  get tokens(): TokenWrites | undefined {
    return this.current.getStore()?.tokens;
  }

  /** Stores no tokens: the request was refused, and its refusal and what it ended are kept. */
  refuseTokens(): void {
    this.current.getStore()?.tokens.clear();
  }

  /** Calls back once all is stored, never when it is not; at once outside of a unit. */
  whenKept(callback: () => void): void {
    const work = this.current.getStore();
    if (work === undefined) callback();
    else work.whenKept.push(callback);
  }

  /** Writes an audit record in the commit of the unit, and not at all if that is not kept; at once outside of a unit. */
  async record(record: PendingRecord): Promise<void> {
    const work = this.current.getStore();
    if (work === undefined) await this.audit.write(record.origin, record.entry);
    else work.records.push(record);
  }

  /**
   * @param work answers whether what it did is kept
   * @returns why nothing was stored after all: another request was first
   */
  async run(work: () => Promise<boolean>): Promise<errors.InvalidGrant | undefined> {
    const unit: Work = {
      opening: undefined,
      tokens: new TokenWrites(),
      records: [],
      revoked: [],
      whenKept: [],
    };
    try {
      if (!(await this.current.run(unit, work))) {
        await undo(unit);
        return undefined;
      }
    } catch (error) {
      await undo(unit);
      throw error;
    }
    const refusal = await this.keep(unit);
    if (refusal !== undefined) return refusal;
    for (const callback of unit.whenKept) callback();
    await this.denyList.tell(unit.revoked);
    return undefined;
  }

  /** Ends access tokens: in the unit's transaction, else in one of its own. The APIs are told after the commit. */
  async revoking(work: (tx: Transaction) => Promise<readonly RevokedToken[]>): Promise<void> {
    const unit = this.current.getStore();
    if (unit === undefined) await this.denyList.tell(await this.database.transaction(work));
    else unit.revoked.push(...(await work(await this.transactionOf(unit))));
  }

  private async transactionOf(unit: Work): Promise<Transaction> {
    unit.opening ??= this.database.begin({ returnId: true });
    return (await unit.opening).tx;
  }

  private async keep(unit: Work): Promise<errors.InvalidGrant | undefined> {
    const { tokens, records } = unit;
    try {
      if (unit.opening === undefined && records.length === 0) {
        if (tokens.any) await tokens.store(this.tokenWriter);
        return undefined;
      }
      const tx = await this.transactionOf(unit);
      if (tokens.any) await tokens.store(tx);
      await this.audit.writeAll(tx, records);
    } catch (error) {
      await undo(unit);
      if (error instanceof errors.InvalidGrant) return error;
      throw error;
    }
    // Asked after: else a client could be left with a token that was used and without its successor.
    await (await unit.opening)?.commit(tokens.trace);
    return undefined;
  }
}

async function undo(unit: Work): Promise<void> {
  const open = await unit.opening?.catch(() => undefined); // what could not be opened holds nothing
  await open?.rollback();
}
