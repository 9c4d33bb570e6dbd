import type { Sql } from '@fulfilment/database';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { DatabaseError } from 'pg';
import { TokenWriter } from './token-writes.js';

const member = {
  model: 'RefreshToken',
  id: 'successor',
  payload: {},
  grant_id: 'family',
  account_id: null,
  client_id: null,
  session_uid: null,
  expires_at: null,
};
const write = {
  grant_id: 'family',
  model: 'RefreshToken',
  id: 'used',
  members: [member],
  role_version: null,
};

/** A database whose writes have these results, in order, and which has stored the successor. */
function databaseWith(results: readonly (() => Promise<ReturnType<typeof JSON.parse>>)[]) {
  const remaining = [...results];
  const database: Sql = {
    rows: () => remaining.shift()?.() ?? Promise.reject(new Error('One write too many.')),
    row: () => Promise.resolve(JSON.parse('{}')),
    run: () => Promise.resolve(0),
  };
  return { database, remaining };
}

describe('the writer of tokens', () => {
  it('reports a write as stored if its batch was rejected, and its connection was lost when it was repeated alone', async () => {
    const rejected = Object.assign(new DatabaseError('rejected', 0, 'error'), { severity: 'ERROR' });
    const { database, remaining } = databaseWith([
      () => Promise.reject(rejected),
      () => Promise.reject(new DependencyUnavailable('The connection was lost.')), // after the commit
      () => Promise.resolve([{ index: 0, family_exists: true, role_current: true, consumed: false }]),
    ]);
    expect(await new TokenWriter(database).write(write)).toEqual({
      family_exists: true,
      role_current: true,
      consumed: true,
    });
    expect(remaining).toEqual([]);
  });
});
