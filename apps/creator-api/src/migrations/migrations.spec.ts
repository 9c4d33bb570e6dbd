import { migrationFaults } from '@fulfilment/database/testing';
import { migrations } from './index.js';

describe('the migrations', () => {
  it('block no concurrent read or write for long', async () => {
    expect(await migrationFaults(migrations)).toEqual([
      // The count must match its triggers, so it locks the small table creators; only the consumer of
      // creators waits.

      'CountedCreators1764000000007 reads all of creators while it blocks creators',
    ]);
  }, 180_000);
});
