import { messages, parsePublicId } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import {
  newKey,
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
} from '../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from './order-helpers.fixture.js';
import { redactOrder } from './maintenance/redact-orders.js';

const metadataWithKeys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key ${n}`, 'x']));

describe('the metadata of an order', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  let creator: Creator;
  let body: ReturnType<typeof orderBody>;

  beforeAll(async () => {
    store = await startStoreApi();
    helpers = orderHelpers(store);
    ({ creator, body } = await helpers.prepareOrder());
  });
  afterAll(() => store.stop());

  const place = async (metadata?: object | null) =>
    store.post('/store/v1/orders', creator.token, { ...body, metadata });
  const metadataOf = async (id: string) => (await store.readOrder(creator, id)).metadata;
  /** `metadata` in the first two messages of an order. */
  const published = (id: string) =>
    eventually(() => {
      const uuid = parsePublicId('ord', id);
      const [created, processing] = ['order.created', 'order.processing'].map((type) =>
        store
          .published(type)
          .map(({ data }) => messages.orderCreated.schema.parse(data).order)
          .find((order) => order.id === uuid),
      );
      return created && processing && [created.metadata, processing.metadata];
    });

  it('is returned with the order and published in order.created and order.processing', async () => {
    const metadata = { cart: 'c_8841', note: 'Happy birthday!\n\n\u{1F382}', empty: '', 'Ключ 1': '"\\' };
    const { status, body: placed } = await place(metadata);
    expect(status).toBe(201);
    expect(await metadataOf(placed.id)).toEqual(metadata);
    expect(await published(placed.id)).toEqual([metadata, metadata]);
  });

  it.each([undefined, null, {}])('is empty, and absent in messages, when %p is sent', async (sent) => {
    const { body: placed } = await place(sent);
    expect(await metadataOf(placed.id)).toEqual({});
    expect(await published(placed.id)).toEqual([undefined, undefined]);
  });

  it.each([
    ['50 keys', metadataWithKeys(50)],
    ['a key of 40 characters', { ['\u{1F382}'.repeat(40)]: 'x' }],
    ['a value of 500 characters', { note: '\u{1F382}'.repeat(500) }],
    ['keys that every object inherits', { toString: 'a', valueOf: 'b', hasOwnProperty: 'c' }],
  ])('may have %s', async (_, metadata) => {
    const { status, body: placed } = await place(metadata);
    expect(status).toBe(201);
    expect(await metadataOf(placed.id)).toEqual(metadata);
  });

  it.each([
    ['51 keys', metadataWithKeys(51), 'must have at most 50 keys'],
    ['an empty key', { '': 'x' }, 'has a key that must not be empty'],
    ['a key of 41 characters', { ['k'.repeat(41)]: 'x' }, 'has a key that must be at most 40 characters'],
    ['a line break in a key', { 'a\nb': 'x' }, 'has a key that must not contain control characters'],
    [
      'a value of 501 characters',
      { note: 'x'.repeat(501) },
      'has a value of "note" that must be at most 500 characters',
    ],
    [
      'U+0000 in a value',
      { note: 'a\u0000b' },
      'has a value of "note" that must not contain control characters',
    ],
    [
      'a lone surrogate in a value',
      { note: '\ud83c' },
      'has a value of "note" that must not contain unpaired surrogates',
    ],
    ['a number', { count: 1 }, 'has a value of "count" that must be a string'],
    ['an object', { nested: { a: 'b' } }, 'has a value of "nested" that must be a string'],
    ['a list', { nested: ['a'] }, 'has a value of "nested" that must be a string'],
    ['a number as toString', { toString: 1 }, 'has a value of "toString" that must be a string'],
  ])('may not have %s', async (_, metadata, reason) => {
    const { status, body: envelope } = await place(metadata);
    expect([status, envelope.details]).toEqual([400, [{ field: 'metadata', reason }]]);
  });

  it.each(['text', 7, ['a']])('may not be %p', async (sent) => {
    const { status, body: envelope } = await store.post('/store/v1/orders', creator.token, {
      ...body,
      metadata: sent,
    });
    expect([status, envelope.details]).toEqual([
      400,
      [{ field: 'metadata', reason: 'must be an object of strings' }],
    ]);
  });

  it('leaves out keys without a value, and the keys constructor, prototype and __proto__', async () => {
    // An object literal would take __proto__ as its prototype.
    const sent = JSON.parse('{"gift":null,"cart":"c_1","constructor":"x","prototype":"x","__proto__":"x"}');
    const { status, body: placed } = await place(sent);
    expect(status).toBe(201);
    expect(await metadataOf(placed.id)).toEqual({ cart: 'c_1' });
    expect(await published(placed.id)).toEqual([{ cart: 'c_1' }, { cart: 'c_1' }]);
  });

  it('is never logged, neither that of a placed order nor that of a rejected one', async () => {
    const prepared = await helpers.prepareOrder({ paymentMethod: 'pm_timeout' });
    const order = { ...prepared.body, metadata: { 'logged key': 'logged value' } };
    const { body: placed } = await helpers.withShortPaymentTimeout(() =>
      helpers.place(prepared.creator, order),
    );
    await helpers.runCompleter(prepared.creator);
    expect((await place({ 'logged key': 'logged value', count: 1 })).status).toBe(400);
    const log = store.log.join('');
    expect(log).toContain(parsePublicId('ord', placed.id)); // the completer logs orders that it continues
    expect(log).not.toMatch(/logged (key|value)/);
  });

  it('must be equal for a repeated idempotency key, whatever the order of the metadata keys', async () => {
    const idempotencyKey = newKey();
    const first = await helpers.place(creator, { ...body, metadata: { a: '1', b: '2' } }, idempotencyKey);
    const repeated = await helpers.place(creator, { ...body, metadata: { b: '2', a: '1' } }, idempotencyKey);
    expect([repeated.status, repeated.body.id]).toEqual([201, first.body.id]);
    for (const metadata of [{ a: '1' }, undefined]) {
      const other = await helpers.place(creator, { ...body, metadata }, idempotencyKey);
      expect([other.status, other.body.details[0].reason]).toEqual([409, 'body_mismatch']);
    }
  });

  it('is deleted when the address is redacted', async () => {
    const prepared = await helpers.prepareOrder({ paymentMethod: 'pm_declined' });
    const order = { ...prepared.body, metadata: { gift: 'for Ana' } };
    const { body: placed } = await helpers.place(prepared.creator, order);
    await redactOrder(store.database, placed.id);
    expect((await store.readOrder(prepared.creator, placed.id)).metadata).toEqual({});
  });
});
