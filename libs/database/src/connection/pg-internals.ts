import type { Client, Connection, Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';

/** Sends all data of this tick as one packet, since each packet wakes the process of the server. */
export function sendInOnePacket<Result>(client: PoolClient, send: () => Promise<Result>): Promise<Result> {
  const { stream } = connectionOf(client);
  stream.cork();
  process.nextTick(() => stream.uncork());
  return send();
}

/** The pool's clients are instances of pg's `Client`, which exposes its connection. */
export function connectionOf(client: Client | PoolClient): Connection {
  if ('connection' in client && isConnection(client.connection)) return client.connection;
  throw new Error('pg no longer exposes the connection of a client.');
}

function isConnection(value: unknown): value is Connection {
  return typeof value === 'object' && value !== null && 'stream' in value;
}

/** TypeORM keeps its pg pool in the internal field `driver.master`. */
export function poolOf(dataSource: DataSource): Pool {
  const pool: unknown = Reflect.get(dataSource.driver, 'master');
  if (!isPool(pool)) throw new Error('TypeORM no longer keeps its pg pool as driver.master.');
  return pool;
}

function isPool(value: unknown): value is Pool {
  return (
    typeof value === 'object' &&
    value !== null &&
    'connect' in value &&
    'query' in value &&
    'totalCount' in value
  );
}
