import { migrationFaults } from '@fulfilment/testing';
import { migrations } from './index.js';

describe('the migrations', () => {
  it('block nobody for long who reads and writes meanwhile', async () => {
    expect(await migrationFaults(migrations)).toEqual([]);
  }, 180_000);
});
