import { type Database, type OpenTransaction, statement } from '@fulfilment/database';
import { BackgroundLoop, Gauge, type Logger } from '@fulfilment/runtime';

const shardCount = 16;
export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);
const intervalMs = 1_000;
/** PostgreSQL ends the transaction of a process that is suspended for longer, and frees its shards. */
const defaultMaxPauseMs = 6_000;

/** First key of the advisory locks, an arbitrary number. The second key is a shard, or `memberKey`. */
const lockClass = 7_391_060;
/** Every replica has a shared lock with this key, so that replicas can be counted. */
const memberKey = shardCount;

// Takes the shared lock of a replica, and limits how long its transaction may be idle ($1, in milliseconds).
const joinMembers = statement(
  'shards.join',
  `SELECT pg_advisory_xact_lock_shared(${lockClass}, ${memberKey}),
     set_config('idle_in_transaction_session_timeout', $1::text, true)`,
);
// Takes free shards of the list $1, in its order, until this replica, which owns $2 shards, has its share.
const takeShards = statement(
  'shards.take',
  `SELECT share, ARRAY(
     SELECT shard FROM unnest($1::int[]) AS shard WHERE pg_try_advisory_xact_lock(${lockClass}, shard)
     LIMIT greatest(share - $2::int, 0)
   ) AS taken
   FROM (SELECT ceil(${shardCount}::numeric / greatest(count(*), 1))::int AS share FROM pg_locks
         WHERE locktype = 'advisory' AND classid = ${lockClass} AND objid = ${memberKey} AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS replicas`,
);

const ownedShards = new Gauge({
  name: 'background_shards_owned',
  help: 'Shards of background work that this replica owns. Their sum over the replicas of a service is 16; alert below that.',
});

export interface ShardSettings {
  /** The shard that this replica tries to take first. Random by default. */
  readonly first?: number;
  /** A process that is suspended for longer loses its shards. Default: 6000. */
  readonly maxPauseMs?: number;
}

/** Returns SQL for the shard of a UUID, by hash. @param uuid SQL for the UUID, such as a column */
export function shardSql(uuid: string): string {
  return `(uuid_hash(${uuid}) & ${shardCount - 1})`;
}

/**
 * Divides background work over the replicas of a service (ADR 48). Each key of the work belongs to one
 * of 16 shards; a shard has one owner, which holds its advisory lock in an open transaction. Every second a
 * replica takes free shards up to its fair share. If it owns more, because others have started, it begins a
 * new transaction with its share. A replica that stops, or loses its connection, loses its shards.
 *
 * Ownership divides work, but does not protect it: a previous owner may still be working when the next one
 * begins. Each job must be safe when two replicas do the same work.
 */
export class Shards extends BackgroundLoop {
  private transaction: OpenTransaction | undefined;
  private shards: readonly number[] = [];
  private readonly listeners: (() => void)[] = [];

  /** @param database the open transaction occupies one of its connections */
  constructor(
    private readonly database: Database,
    logger: Logger,
    private readonly settings: ShardSettings = {},
  ) {
    const { first = Math.floor(Math.random() * shardCount) } = settings;
    // Replicas prefer different shards, so that two rarely try to take the same shard.
    const preferred = [...allShards.slice(first), ...allShards.slice(0, first)];
    super({ name: 'shards', intervalMs, logger, round: () => this.renew(preferred) });
  }

  /** Shards whose work this replica does, in ascending order. */
  get owned(): readonly number[] {
    return this.shards;
  }

  /** Calls back when this replica takes shards that it did not own. */
  onTaken(listener: () => void): void {
    this.listeners.push(listener);
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.release();
    this.setOwned([]);
  }

  private async renew(preferred: readonly number[]): Promise<void> {
    try {
      const share = await this.take(preferred, this.shards);
      if (share >= this.shards.length) return;
      const previous = this.shards;
      await this.release();
      await this.take([...new Set([...previous, ...preferred])], []);
    } catch (error) {
      this.setOwned([]);
      await this.release();
      throw error;
    }
  }

  /** Takes free shards in addition to the owned ones. Returns the fair share of this replica. */
  private async take(preferred: readonly number[], owned: readonly number[]): Promise<number> {
    const tx = this.transaction?.tx ?? (await this.begin());
    const others = preferred.filter((shard) => !owned.includes(shard));
    const result = await tx.row<{ share: number; taken: number[] }>(takeShards, [others, owned.length]);
    if (result === undefined) throw new Error('PostgreSQL returned no share.');
    this.setOwned([...owned, ...result.taken]);
    return result.share;
  }

  private async begin(): Promise<OpenTransaction['tx']> {
    this.transaction = await this.database.begin();
    const { tx } = this.transaction;
    await tx.row(joinMembers, [this.settings.maxPauseMs ?? defaultMaxPauseMs]);
    return tx;
  }

  private async release(): Promise<void> {
    const { transaction } = this;
    this.transaction = undefined;
    await transaction?.rollback();
  }

  /** Sets the owned shards, and calls the listeners if some are new. */
  private setOwned(shards: readonly number[]): void {
    const previous = this.shards;
    this.shards = shards.toSorted((a, b) => a - b);
    ownedShards.set(shards.length);
    if (shards.every((shard) => previous.includes(shard))) return;
    for (const listener of this.listeners) listener();
  }
}
