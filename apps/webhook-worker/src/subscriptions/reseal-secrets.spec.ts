import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { randomBytes } from 'node:crypto';
import { migrations } from '../migrations/index.js';
import { resealSecrets } from './reseal-secrets.js';
import { SecretBox } from '@fulfilment/runtime';

const [older, newer] = [randomBytes(32), randomBytes(32)];
const [before, both, after] = [new SecretBox([older]), new SecretBox([newer, older]), new SecretBox([newer])];

let stores: ScratchDatabase;

beforeEach(async () => {
  stores = await scratchDatabase(migrations);
});
afterEach(() => stores.drop());

const insert = statement(
  'test.insert',
  `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, previous_secret, previous_secret_until, api_version, status)
   VALUES ($1, $1, 'client', 'https://receiver.example/', '{order.created}', $2, $3, now() + $4 * interval '1 hour', 'v', 'active')`,
);
const read = statement('test.read', 'SELECT id, secret, previous_secret FROM webhook_subscriptions');

async function subscribe(box: SecretBox, previousForHours: number | null = null): Promise<string> {
  const id = uuidv7();
  const previous = previousForHours === null ? null : box.seal(`old of ${id}`, id);
  await stores.database.run(insert, [id, box.seal(`secret of ${id}`, id), previous, previousForHours]);
  return id;
}
const rows = () => stores.database.rows<{ id: string; secret: Buffer; previous_secret: Buffer | null }>(read);

describe('resealing secrets', () => {
  it('leaves no secret that needs an old key, in any number of batches', async () => {
    for (let count = 0; count < 450; count += 1) await subscribe(before, count % 2 === 0 ? 1 : null);
    await subscribe(both);
    expect(await resealSecrets(stores.database, both)).toEqual({ resealed: 450, unreadable: 0 });
    for (const { id, secret, previous_secret: previous } of await rows()) {
      expect(after.open(secret, id).toString()).toBe(`secret of ${id}`);
      if (previous !== null) expect(after.open(previous, id).toString()).toBe(`old of ${id}`);
    }
    expect((await rows()).filter((row) => row.previous_secret !== null)).toHaveLength(225);
  });

  it('changes nothing when it is repeated', async () => {
    await subscribe(before, 1);
    await resealSecrets(stores.database, both);
    const sealed = await rows();
    expect(await resealSecrets(stores.database, both)).toEqual({ resealed: 0, unreadable: 0 });
    expect(await rows()).toEqual(sealed);
  });

  it('deletes an expired previous secret', async () => {
    await subscribe(before, -1);
    await resealSecrets(stores.database, both);
    expect((await rows())[0]?.previous_secret).toBeNull();
  });

  it('skips a secret that no key opens, and leaves it unchanged', async () => {
    await subscribe(new SecretBox([randomBytes(32)]));
    const [lost] = await rows();
    await subscribe(before);
    expect(await resealSecrets(stores.database, both)).toEqual({ resealed: 1, unreadable: 1 });
    expect(await rows()).toContainEqual(lost);
  });
});
