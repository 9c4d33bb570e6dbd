import { migrationFaults } from '@fulfilment/database/testing';
import { migrations } from './index.js';

describe('the migrations', () => {
  it('do not block concurrent reads and writes for long', async () => {
    expect(await migrationFaults(migrations)).toEqual([]);
  }, 180_000);
});
