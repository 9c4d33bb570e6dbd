import { scratchDatabase, type ScratchDatabase, startWhileLocked } from '@fulfilment/database/testing';
import { SecretBox, systemClock } from '@fulfilment/runtime';
import { randomBytes, randomUUID } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { migrations } from '../migrations/index.js';
import { secondFactorOwner, SecondFactors } from './second-factors.js';
import { testStatement } from '../test/test-statement.fixture.js';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await scratchDatabase(migrations);
});
afterAll(() => scratch.drop());

describe('confirmSetup', () => {
  it('rejects the code of a secret that another page replaces concurrently', async () => {
    const { database } = scratch;
    const secrets = new SecretBox([randomBytes(32)]);
    const factors = new SecondFactors(
      database,
      secrets,
      { SECOND_FACTOR_FOR_GLOBAL_ADMINS: false },
      systemClock,
    );
    const userId = randomUUID();
    await database.run(
      testStatement(`INSERT INTO users (id, email, password_hash) VALUES ($1, 'a@a.example', '')`),
      [userId],
    );
    const shown = (await factors.beginSetup(userId)) ?? Buffer.alloc(0);
    const code = new TOTP({ secret: Secret.fromHex(shown.toString('hex')) }).generate();
    const replacement = secrets.seal(randomBytes(20).toString('base64'), secondFactorOwner(userId));
    const replace = testStatement('UPDATE second_factors SET secret_encrypted = $2 WHERE user_id = $1');
    const [codes] = await startWhileLocked(
      database,
      (replacing) => replacing.run(replace, [userId, replacement]),
      () => database.transaction((tx) => factors.confirmSetup(tx, userId, code)),
    );
    expect(codes).toBeUndefined();
    expect(await factors.stateOf(userId)).toMatchObject({ confirmed: false, setupOpen: true });
  });
});
