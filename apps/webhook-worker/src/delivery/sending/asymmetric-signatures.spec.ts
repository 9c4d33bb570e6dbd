import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { verifyWebhook } from '@fulfilment/webhook-verifier';
import type { webcrypto } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import request from 'supertest';
import { newPrivateKey } from '../../subscriptions/keys/key-pairs.js';
import { aClient } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';

const given = setUpWorker();
type Jwk = webcrypto.JsonWebKey & { readonly kid: string };

const backdateChange = statement(
  'test.backdate-change',
  'UPDATE webhook_subscriptions SET previous_signing_key_until = previous_signing_key_until - $2::interval WHERE id = $1',
);
const makeKeyUnreadable = statement(
  'test.make-key-unreadable',
  "UPDATE webhook_subscriptions SET signing_key = 'sealed with a lost key' WHERE id = $1",
);
const readKeys = statement(
  'test.read-keys',
  'SELECT signing_key, previous_signing_key FROM webhook_subscriptions WHERE id = $1',
);

describe('the v1a signatures of Standard Webhooks', () => {
  let client: Awaited<ReturnType<typeof aClient>>;
  beforeEach(async () => {
    client = await given.client();
  });

  const subscription = () => ({ url: given.receiver.url, events: ['*'], secret: 'a secret' });
  const subscribe = async (members: object): Promise<string> =>
    (await client.post({ ...subscription(), ...members }).expect(201)).body.id;
  /** Reads the keys without a token, as a receiver does. */
  const readJwks = async (id: string): Promise<readonly Jwk[]> => {
    const response = await request(given.worker.server).get(`/store/v1/webhooks/${id}/jwks.json`).expect(200);
    expect(response.headers['cache-control']).toBe('public, max-age=300');
    return response.body.keys;
  };
  const deliver = async (id: string) => {
    const count = given.receiver.deliveries.length;
    await client.post({ event: 'order.created' }, `/${id}/test`).expect(202);
    const delivery = (await given.receiver.waitFor(count + 1))[count];
    if (delivery === undefined) throw new Error('No delivery was received.');
    return delivery;
  };
  type Delivery = Awaited<ReturnType<typeof deliver>>;
  const signaturesOf = ({ headers }: Delivery) =>
    String(headers['webhook-signature'])
      .split(' ')
      .map((signature) => signature.split(','));

  /** Verifies each signature with a published key by WebCrypto. Returns the results. */
  async function verifyEach(delivery: Delivery, jwk: Jwk): Promise<boolean[]> {
    const key = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']);
    const { headers, rawBody } = delivery;
    const signed = Buffer.concat([
      Buffer.from(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`),
      rawBody,
    ]);
    const signatures = signaturesOf(delivery).filter(([version]) => version === 'v1a');
    return Promise.all(
      signatures.map(([, base64 = '']) =>
        crypto.subtle.verify('Ed25519', key, Buffer.from(base64, 'base64'), signed),
      ),
    );
  }

  it('are absent unless the subscription requires them', async () => {
    const id = await subscribe({});
    expect((await client.get(`/${id}`)).body.signature).toBe('v1');
    expect(await readJwks(id)).toEqual([]);
    expect(signaturesOf(await deliver(id)).map(([version]) => version)).toEqual(['v1']);
  });

  it('are verified by the published key, next to the HMAC', async () => {
    const id = await subscribe({ signature: 'v1a' });
    expect((await client.get(`/${id}`)).body.signature).toBe('v1a');
    const [key, ...others] = await readJwks(id);
    if (key === undefined) throw new Error('no key');
    expect(others).toEqual([]);
    expect(key).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      alg: 'EdDSA',
      use: 'sig',
      kid: expect.any(String),
      x: expect.any(String),
    });
    const delivery = await deliver(id);
    expect(signaturesOf(delivery).map(([version]) => version)).toEqual(['v1', 'v1a']);
    expect(await verifyEach(delivery, key)).toEqual([true]);
    const { headers, rawBody: body } = delivery;
    const { x } = key;
    expect(
      verifyWebhook({ headers, body }, { publicKeys: [{ kty: 'OKP', crv: 'Ed25519', x: String(x) }] }).event,
    ).toBe('order.created');
    const officialLibrary = new Webhook(Buffer.from('a secret'), { format: 'raw' });
    const standard = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
      name,
      String(headers[name]),
    ]);
    expect(officialLibrary.verify(body.toString(), Object.fromEntries(standard))).toMatchObject({
      event: 'order.created',
    });
    const tampered = { ...delivery, rawBody: Buffer.concat([delivery.rawBody, Buffer.from(' ')]) };
    expect(await verifyEach(tampered, key)).toEqual([false]);
  });

  it('are made with both keys for 24 hours after a change, in which a repeated request changes no key', async () => {
    const id = await subscribe({});
    await client.patch(id, { signature: 'v1a' }).expect(200);
    const [old] = await readJwks(id);
    const changeKey = () => client.patch(id, { new_signing_key: true, signature: 'v1a' }).expect(200);
    const backdate = (interval: string) =>
      given.stores.database.run(backdateChange, [parsePublicId('whk', id), interval]);
    await changeKey();
    await backdate('23 hours 55 minutes');
    await changeKey();
    const [current, previous] = await readJwks(id);
    expect(previous).toEqual(old);
    if (current === undefined || old === undefined) throw new Error('no key');
    expect(current.kid).not.toBe(old.kid);
    const delivery = await deliver(id);
    expect(await verifyEach(delivery, current)).toEqual([true, false]);
    expect(await verifyEach(delivery, old)).toEqual([false, true]);

    await backdate('5 minutes');
    expect(await readJwks(id)).toEqual([current]);
    expect(await verifyEach(await deliver(id), current)).toEqual([true]);
    await changeKey();
    expect((await readJwks(id)).map(({ kid }) => kid)).toEqual([expect.any(String), current.kid]);
  });

  it('are made with the new key alone if no configured key opens the previous one', async () => {
    const id = await subscribe({ signature: 'v1a' });
    await given.stores.database.run(makeKeyUnreadable, [parsePublicId('whk', id)]);
    await client.patch(id, { new_signing_key: true }).expect(200);
    const [key, ...others] = await readJwks(id);
    if (key === undefined) throw new Error('no key');
    expect(others).toEqual([]);
    expect(await verifyEach(await deliver(id), key)).toEqual([true]);
  });

  it('end, and their keys are deleted, when the subscription changes to v1 or is deleted', async () => {
    const storedKeys = (id: string) => given.stores.database.row(readKeys, [parsePublicId('whk', id)]);
    const none = { signing_key: null, previous_signing_key: null };
    const id = await subscribe({ signature: 'v1a' });
    await client.patch(id, { new_signing_key: true }).expect(200);
    expect((await client.patch(id, { signature: 'v1' }).expect(200)).body.signature).toBe('v1');
    expect([await readJwks(id), await storedKeys(id)]).toEqual([[], none]);
    expect(signaturesOf(await deliver(id)).map(([version]) => version)).toEqual(['v1']);

    const deleted = await subscribe({ signature: 'v1a' });
    await client.delete(deleted).expect(204);
    expect(await storedKeys(deleted)).toEqual(none);
    await request(given.worker.server).get(`/store/v1/webhooks/${deleted}/jwks.json`).expect(404);
  });

  it('are made with a key that no other subscription has, and that is stored sealed', async () => {
    const ids = [await subscribe({ signature: 'v1a' }), await subscribe({ signature: 'v1a' })];
    const [first, second] = await Promise.all(ids.map(readJwks));
    expect(first?.[0]?.x).not.toBe(second?.[0]?.x);
    const row = await given.stores.database.row<{ signing_key: Buffer }>(readKeys, [
      parsePublicId('whk', ids[0] ?? ''),
    ]);
    const beginning = 'MC4CAQAwBQYDK2Vw'; // of each Ed25519 key, as PKCS #8 in base64
    expect(newPrivateKey()).toContain(beginning);
    expect(row?.signing_key.includes(beginning)).toBe(false);
  });

  it('have no other version: a `signature` that is neither v1 nor v1a is rejected', async () => {
    const { body } = await client.post({ ...subscription(), signature: 'v2' }).expect(400);
    expect(body.details).toEqual([{ field: 'signature', reason: 'must be v1 or v1a' }]);
  });

  it('get no new key by an invalid `new_signing_key`, or if the subscription does not require them', async () => {
    const id = await subscribe({});
    const invalid = [
      { new_signing_key: true },
      { new_signing_key: true, signature: 'v1' },
      { new_signing_key: 'yes' },
    ];
    for (const input of invalid)
      expect((await client.patch(id, input).expect(400)).body.details[0].field).toBe('new_signing_key');
  });

  it('have no JWKS for an unknown subscription', async () => {
    for (const unknown of ['whk_00000000000000000000000000', 'nonsense'])
      await request(given.worker.server).get(`/store/v1/webhooks/${unknown}/jwks.json`).expect(404);
  });
});
