import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { randomBytes } from 'node:crypto';
import { migrations } from '../migrations/index.js';
import { resealSecrets } from './reseal-secrets.js';
import { SecretBox } from '@fulfilment/runtime';

const [older, newer] = [randomBytes(32), randomBytes(32)];
// The boxes before, during and after the rotation from the older to the newer key.
const [before, both, after] = [new SecretBox([older]), new SecretBox([newer, older]), new SecretBox([newer])];

let scratch: ScratchDatabase;

beforeEach(async () => {
  scratch = await scratchDatabase(migrations);
});
afterEach(() => scratch.drop());

const insert = statement(
  'test.insert',
  `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, previous_secret, previous_secret_until, signing_key,
     previous_signing_key, previous_signing_key_until, api_version, status)
   VALUES (:id, :id, 'client', 'https://receiver.example/', '{order.created}', :secret, :previous_secret, now() + :hours * interval '1 hour',
     :key, :previous_key, now() + :hours * interval '1 hour', 'v', 'active')`,
);
const read = statement(
  'test.read',
  'SELECT id, secret, previous_secret, signing_key, previous_signing_key FROM webhook_subscriptions',
);

/**
 * Writes a subscription. Returns its id.
 * @param box seals the secret
 * @param previousForHours how long the previous secret and key are still valid; null: it has only a secret
 * @param previousBox seals the previous secret and both keys
 */
async function subscribe(
  box: SecretBox,
  previousForHours: number | null = null,
  previousBox = box,
): Promise<string> {
  const id = uuidv7();
  const previous = (text: string) => (previousForHours === null ? null : previousBox.seal(text, id));
  await scratch.database.run(insert, {
    id,
    secret: box.seal(`secret of ${id}`, id),
    previous_secret: previous(`old of ${id}`),
    hours: previousForHours,
    key: previous(`key of ${id}`),
    previous_key: previous(`old key of ${id}`),
  });
  return id;
}
interface Row {
  readonly id: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly signing_key: Buffer | null;
  readonly previous_signing_key: Buffer | null;
}
const readRows = () => scratch.database.rows<Row>(read);

describe('the command to reseal secrets', () => {
  it('reseals all secrets that need an old key, in several batches', async () => {
    const oldCount = 450; // three batches; half of them have previous secrets
    for (let count = 0; count < oldCount; count += 1) await subscribe(before, count % 2 === 0 ? 1 : null);
    await subscribe(both);
    expect(await resealSecrets(scratch.database, both)).toEqual({ resealed: oldCount, unreadable: 0 });
    for (const { id, secret, previous_secret: previous, ...keys } of await readRows()) {
      const open = (sealed: Buffer | null) => sealed && after.open(sealed, id).toString();
      expect(open(secret)).toBe(`secret of ${id}`);
      if (previous === null) continue;
      expect(open(previous)).toBe(`old of ${id}`);
      expect(open(keys.signing_key)).toBe(`key of ${id}`);
      expect(open(keys.previous_signing_key)).toBe(`old key of ${id}`);
    }
    expect((await readRows()).filter((row) => row.previous_secret !== null)).toHaveLength(oldCount / 2);
  });

  it('changes nothing when it is repeated', async () => {
    await subscribe(before, 1);
    await resealSecrets(scratch.database, both);
    const sealed = await readRows();
    expect(await resealSecrets(scratch.database, both)).toEqual({ resealed: 0, unreadable: 0 });
    expect(await readRows()).toEqual(sealed);
  });

  it('deletes an expired previous secret and key', async () => {
    await subscribe(before, -1);
    await resealSecrets(scratch.database, both);
    const [row] = await readRows();
    expect([row?.previous_secret, row?.previous_signing_key]).toEqual([null, null]);
    expect(row?.signing_key).not.toBeNull();
  });

  it('skips a secret that no key opens, and leaves it unchanged', async () => {
    await subscribe(new SecretBox([randomBytes(32)]));
    const [lost] = await readRows();
    await subscribe(before);
    expect(await resealSecrets(scratch.database, both)).toEqual({ resealed: 1, unreadable: 1 });
    expect(await readRows()).toContainEqual(lost);
  });

  it('leaves all secrets of a subscription unchanged when no key opens one of them', async () => {
    await subscribe(before, 1, new SecretBox([randomBytes(32)]));
    const sealed = await readRows();
    expect(await resealSecrets(scratch.database, both)).toEqual({ resealed: 0, unreadable: 1 });
    expect(await readRows()).toEqual(sealed);
  });

  it('rejects with an unexpected error, and does not count the secret as unreadable', async () => {
    await subscribe(before);
    const failing = new SecretBox([newer, older]);
    failing.reseal = () => {
      throw new TypeError('A programming error.');
    };
    await expect(resealSecrets(scratch.database, failing)).rejects.toThrow('A programming error.');
  });
});
