import type { ReceivedDelivery } from '@fulfilment/testing';
import { Webhook } from 'standardwebhooks';
import { orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';

const given = setUpWorker();

/** Verifies a delivery with the official library of Standard Webhooks, as a receiver would. */
function verify({ headers, rawBody }: ReceivedDelivery, webhook: Webhook): unknown {
  return webhook.verify(rawBody.toString(), {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  });
}

/** Sends a test event to a subscription with this secret, which `newSecret` has replaced if it is given. */
async function deliverSigned(secret: string, newSecret?: string): Promise<ReceivedDelivery> {
  const { client, id } = await given.subscriber(['order.created'], secret);
  if (newSecret !== undefined) await client.patch(id, { secret: newSecret }).expect(200);
  await client.post({ event: 'order.created' }, `/${id}/test`).expect(202);
  const [delivery] = await given.receiver.waitFor(1);
  if (delivery === undefined) throw new Error('No delivery was received.');
  return delivery;
}

const base64Secret = `whsec_${Buffer.from('a key of 32 bytes, base64 coded!').toString('base64')}`;

describe('the headers of Standard Webhooks', () => {
  it.each([
    ['whsec_ and base64', base64Secret, new Webhook(base64Secret)],
    ['base64 without padding', 'whsec_c2VjcmV0MQ', new Webhook('whsec_c2VjcmV0MQ==')],
    ['plain text', 'a plain secret', new Webhook('a plain secret', { format: 'raw' })],
    ['hex digits, which are base64 too', 'c0ffee11', new Webhook('c0ffee11', { format: 'raw' })],
    ['text outside ASCII', '🎸', new Webhook(Buffer.from('🎸'), { format: 'raw' })],
    ['whsec_ without base64', 'whsec_a', new Webhook('whsec_a', { format: 'raw' })],
  ])('are verified by its official library, for a secret of %s', async (_case, secret, webhook) => {
    const delivery = await deliverSigned(secret);
    expect(verify(delivery, webhook)).toMatchObject({
      event: 'order.created',
      id: delivery.headers['webhook-id'],
    });
    const changed = { ...delivery, rawBody: Buffer.concat([delivery.rawBody, Buffer.from(' ')]) };
    expect(() => verify(changed, webhook)).toThrow('No matching signature found');
  });

  it('are verified with the old and with the new secret after a rotation', async () => {
    const delivery = await deliverSigned(base64Secret, 'a new secret');
    for (const webhook of [new Webhook(base64Secret), new Webhook('a new secret', { format: 'raw' })])
      expect(verify(delivery, webhook)).toMatchObject({ event: 'order.created' });
    expect(() => verify(delivery, new Webhook('another', { format: 'raw' }))).toThrow(
      'No matching signature found',
    );
  });

  it('have the same webhook-id for all attempts and subscriptions of an event', async () => {
    const { client } = await given.subscriber();
    await client.subscribe(`${given.receiver.url}/2`);
    given.receiver.respondWith((response) => response.writeHead(500).end());
    const event = orderCreated(client.creatorId);
    await given.publish(event);
    const attempts = await given.receiver.waitFor(5); // a subscription gets four at most
    expect(new Set(attempts.map(({ path }) => path)).size).toBe(2);
    for (const { headers, body } of attempts)
      expect([headers['webhook-id'], body.id]).toEqual([attempts[0]?.body.id, attempts[0]?.body.id]);
  });
});
