import { statement } from '@fulfilment/database';
import { type ScratchDatabase, scratchDatabase } from '@fulfilment/database/testing';
import { uniqueName } from '@fulfilment/testing';
import { grantRequestRoles } from './0008-request-roles.js';
import { migrations } from './index.js';

describe('the grant of the request roles', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => (scratch = await scratchDatabase(migrations))); // the roles exist
  afterAll(() => scratch.drop());

  it('fails with the commands for a superuser if the user may neither grant nor assume them', async () => {
    const user = uniqueName('user');
    const created = scratch.database.transaction(async (tx) => {
      await tx.run(statement('test.create-user', `CREATE ROLE ${user}`));
      await tx.run(statement('test.become-user', `SET LOCAL ROLE ${user}`));
      await tx.run(statement('test.grant-request-roles', grantRequestRoles));
    });
    await expect(created).rejects.toThrow(
      `GRANT creator_api_member TO ${user}; GRANT creator_api_operator TO ${user};`,
    );
  });
});
