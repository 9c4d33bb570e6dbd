import { findBlockingMigrations } from '@fulfilment/database/testing';
import { migrations } from './index.js';

describe('the migrations', () => {
  it('block no concurrent read or write for long', async () => {
    expect(await findBlockingMigrations(migrations)).toEqual([]);
  });
});
