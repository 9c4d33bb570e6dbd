import type { Database } from '@fulfilment/database';
import { type ScratchDatabase, scratchDatabase } from '@fulfilment/database/testing';
import { migrations } from '../migrations/index.js';

/** Registers hooks that create a migrated database for the tests of a file, and drop it. */
export function setUpDatabase(): { readonly database: Database } {
  let scratch: ScratchDatabase | undefined;
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
  });
  afterAll(() => scratch?.drop());
  return {
    get database() {
      if (scratch === undefined) throw new Error('The hooks have not run yet.');
      return scratch.database;
    },
  };
}
