import { SecretBox, systemClock } from '@fulfilment/runtime';
import { scratchDatabase, type ScratchDatabase, startWhileLocked } from '@fulfilment/database/testing';
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { createOrUpdateUser } from '../accounts/create-or-update-user.js';
import { migrations } from '../migrations/index.js';
import { createClient, type CreatedClient } from '../registration/create-client.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { clientSecretOwner } from '../registration/client-secret.js';
import { resealSecrets } from './reseal-secrets.js';
import { lockKeys, SigningKeys } from './signing-keys.js';
import { testStatement } from '../test/test-statement.fixture.js';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const withOldKey = new SecretBox([oldKey]);
const withBothKeys = new SecretBox([newKey, oldKey]);
const withNewKey = new SecretBox([newKey]);
const signingKeyCount = 4; // active and next, of two algorithms
const secondFactorCount = 1;

let scratch: ScratchDatabase;
beforeEach(async () => {
  scratch = await scratchDatabase(migrations);
});
afterEach(() => scratch.drop());

const createConfidentialClient = (id: string, secrets: SecretBox) =>
  createClient(
    scratch.database,
    { id, name: id, redirectUris: [], firstParty: false, confidential: true, resourceServer: true },
    secrets,
  );
const sealedSecret = testStatement(
  `SELECT payload ->> 'client_secret_sealed' AS sealed FROM oidc_model WHERE model = 'Client' AND id = $1`,
);
/** Returns the stored secret of a client, opened with the given keys. */
async function secretOf(id: string, secrets: SecretBox): Promise<string> {
  const sealed = (await scratch.database.row<{ sealed: string }>(sealedSecret, [id]))?.sealed ?? '';
  return secrets.open(Buffer.from(sealed, 'base64'), clientSecretOwner(id)).toString();
}
const factorsOf = (secrets: SecretBox) =>
  new SecondFactors(scratch.database, secrets, { SECOND_FACTOR_FOR_GLOBAL_ADMINS: false }, systemClock);

/** Creates a user with a second factor that is sealed with the given keys. */
async function createUserWithSecondFactor(
  secrets: SecretBox,
): Promise<{ userId: string; codes: readonly string[] }> {
  const user = {
    email: 'owner@harbour.example',
    password: 'correct horse battery staple',
    role: 'global_admin',
  } as const;
  const { user_id: userId } = await createOrUpdateUser(scratch.database, user, () => Promise.resolve());
  const factors = factorsOf(secrets);
  const secret = (await factors.beginSetup(userId)) ?? Buffer.alloc(0);
  const code = new TOTP({ secret: Secret.fromHex(secret.toString('hex')) }).generate();
  const codes = await scratch.database.transaction((tx) => factors.confirmSetup(tx, userId, code));
  return { userId, codes: Array.isArray(codes) ? codes : [] };
}

describe('resealing the secrets of the authorization server', () => {
  it('reseals signing keys, hundreds of client secrets, and second factors, so that no old key is needed', async () => {
    const keys = new SigningKeys(scratch.database, withOldKey);
    await keys.ensureKeys();
    const { userId, codes } = await createUserWithSecondFactor(withOldKey);
    // More than two batches of 200.
    const clients = Array.from({ length: 420 }, (_, index) => `client-${index}`);
    const created: CreatedClient[] = [];
    for (const id of clients) created.push(await createConfidentialClient(id, withOldKey));
    await createConfidentialClient('with-new-key', withBothKeys);
    const signing = await keys.load();

    const resealed = signingKeyCount + clients.length + secondFactorCount;
    expect(await resealSecrets(scratch.database, withBothKeys)).toEqual({ resealed, unreadable: 0 });

    expect(await new SigningKeys(scratch.database, withNewKey).load()).toEqual(signing);
    expect(await Promise.all(clients.map((id) => secretOf(id, withNewKey)))).toEqual(
      created.map(({ client_secret }) => client_secret),
    );
    expect(
      await factorsOf(withNewKey).verifyCode(userId, codes[0] ?? '', { ip: '::1', userAgent: undefined }),
    ).toBe('recovery_code');
    expect(await resealSecrets(scratch.database, withBothKeys)).toEqual({ resealed: 0, unreadable: 0 });
  });

  it('waits for a rotation of the signing keys, which locks them in another order', async () => {
    const [resealed] = await startWhileLocked(
      scratch.database,
      (tx) => tx.run(lockKeys),
      () => resealSecrets(scratch.database, withBothKeys),
    );
    expect(resealed).toEqual({ resealed: 0, unreadable: 0 });
  });

  it('continues past a secret that no key opens, and leaves it as it is', async () => {
    const lost = new SecretBox([randomBytes(32)]);
    // Secrets are resealed in the order of their ids.
    const { client_secret: secret } = await createConfidentialClient('a-lost-one', lost);
    await createConfidentialClient('b-known-one', withOldKey);
    expect(await resealSecrets(scratch.database, withBothKeys)).toEqual({ resealed: 1, unreadable: 1 });
    expect(await secretOf('a-lost-one', lost)).toBe(secret);
  });
});
