import { publicId, uuidv7 } from '@fulfilment/contracts';
import { setUpWorker } from '../test/worker-setup.fixture.js';
import { orderCreated, haveStatuses } from '../test/webhook-worker.fixture.js';
import { supportCommands } from './support-commands.js';

const given = setUpWorker();

/** Returns the output of an operator command. */
async function operate(
  command: keyof typeof supportCommands,
  typed: Readonly<Record<string, unknown>>,
): Promise<ReturnType<typeof JSON.parse>> {
  const { database } = given.stores;
  return JSON.parse(JSON.stringify(await supportCommands[command].prepare(typed)({ database })));
}

describe('an operator', () => {
  it('lists the subscriptions of a creator in pages, of all clients or one, without secrets', async () => {
    const one = await given.client();
    const other = await given.client({
      creator_id: one.creatorId,
      client_id: 'other',
    });
    await (await given.client()).subscribe(given.receiver.url);
    const ids = [
      await one.subscribe(given.receiver.url),
      await other.subscribe(given.receiver.url),
      await other.subscribe(given.receiver.url, ['order.shipped']),
    ];
    await other.patch(ids[2] ?? '', { status: 'disabled' }).expect(200);
    const all = await operate('webhooks list', { creator: one.creatorId });
    expect(all.subscriptions.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(all).toMatchObject({
      next: null,
      subscriptions: [
        { creator: publicId('crt', one.creatorId), status: 'active', events: ['order.created'] },
        { client_id: 'other', url: given.receiver.url },
        { client_id: 'other', status: 'disabled', disabled_reason: 'owner', deleted_at: null },
      ],
    });
    expect(JSON.stringify(all)).not.toContain('secret');
    const creator = publicId('crt', one.creatorId);
    const first = await operate('webhooks list', { creator, client: 'other', limit: '1' });
    const rest = await operate('webhooks list', { creator, client: 'other', limit: '1', after: first.next });
    expect([...first.subscriptions, ...rest.subscriptions].map(({ id }) => id)).toEqual(ids.slice(1));
    expect(rest.next).toBeNull();
  });

  it('deletes a subscription like its owner, and lists the reasons of deletions', async () => {
    const client = await given.client();
    const url = given.receiver.url;
    const [byOperator, byOwner, kept] = [
      await client.subscribe(url),
      await client.subscribe(url),
      await client.subscribe(url),
    ];
    await client.delete(byOwner).expect(204);
    expect(await operate('webhooks delete', { id: byOperator })).toEqual({ id: byOperator, deleted: true });
    await expect(operate('webhooks delete', { id: byOperator })).rejects.toThrow(
      `The webhook subscription ${byOperator} does not exist, or is deleted already.`,
    );
    await client.get(`/${byOperator}`).expect(404);
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded'));
    const creator = client.creatorId;
    const { subscriptions } = await operate('webhooks list', { creator });
    expect(subscriptions).toMatchObject([{ id: kept }]);
    expect((await operate('webhooks list', { creator, deleted: true })).subscriptions).toMatchObject([
      { id: byOperator, deleted_reason: 'operator', deleted_at: expect.any(String) },
      { id: byOwner, deleted_reason: 'owner' },
      { id: kept, deleted_reason: null, deleted_at: null },
    ]);
  });
});

it.each([
  ['webhooks list', {}, /is missing/],
  ['webhooks list', { creator: 'harbour' }, /must be a crt_ id or a UUID/],
  ['webhooks list', { creator: uuidv7(), limit: '0' }, /must be a whole number from 1 to 1000/],
  ['webhooks delete', {}, /is missing/],
  ['webhooks delete', { id: 'ord_x' }, /must be a whk_ id or a UUID/],
] as const)(
  'the command %s with the arguments %j is rejected before it runs',
  (command, typed, complaint) => {
    expect(() => supportCommands[command].prepare(typed)).toThrow(complaint);
  },
);
