import { eventually } from '@fulfilment/testing';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Merchant, newMerchant, newProduct, type Product } from '../suite/merchant.js';
import { operate, runOps } from '../suite/operator.js';
import { shipOptions, placeOrder } from '../suite/orders.js';

const queue = 'store-api.fulfilment';
const deadLetters = z.object({
  letters: z.array(z.looseObject({ id: z.string(), about: z.record(z.string(), z.string()) })),
});

describe('the operator commands', () => {
  let merchant: Merchant;
  let product: Product;
  beforeAll(async () => {
    merchant = await newMerchant();
    product = await newProduct(merchant);
  });

  const place = () => placeOrder(merchant.store, [{ sku: product.sku, quantity: 1 }]);
  const order = async (id: string) => (await merchant.store.get(`/store/v1/orders/${id}`).expect(200)).body;
  const firstProduct = async () =>
    (await merchant.store.get(`/store/v1/releases/${product.releaseId}`).expect(200)).body.products[0];

  it('ship, correct and deliver an order, and return when the change is applied', async () => {
    const id = await place();
    expect(await operate(['order', 'ship', id, ...shipOptions('A1')])).toMatchObject({
      outcome: 'applied',
    });
    expect(await order(id)).toMatchObject({
      status: 'shipped',
      tracking: { carrier: 'Royal Mail', tracking_number: 'A1', tracking_url: 'https://track.example/A1' },
    });
    await operate(['order', 'track', id, ...shipOptions('A2')]);
    expect((await order(id)).tracking).toMatchObject({ tracking_number: 'A2' });
    await operate(['order', 'deliver', id]);
    expect(await order(id)).toMatchObject({
      status: 'delivered',
      tracking: { tracking_number: 'A2', delivered_at: expect.stringMatching(/Z$/) },
    });
  });

  it('withdraw a product, and release it for sale again', async () => {
    await operate(['product', 'withdraw', product.sku]);
    expect((await firstProduct()).status).toBe('unavailable');
    await operate(['product', 'release', product.sku]);
    expect((await firstProduct()).status).toBe('available');
  });

  it('change the payment method of a creator for later orders, and recharge a failed order', async () => {
    await operate(['creator', 'payment-method', merchant.creator.id, 'pm_declined']);
    const id = await place();
    expect((await order(id)).status).toBe('payment_failed');
    const recharge = () => operate(['order', 'recharge', id]);
    expect(await recharge()).toMatchObject({ status: 'payment_failed', charge: 'declined', attempt: 2 });
    await operate(['creator', 'payment-method', merchant.creator.uuid, 'pm_ok']);
    expect(await recharge()).toMatchObject({ status: 'processing', charge: 'succeeded', attempt: 3 });
    expect(await order(id)).toMatchObject({ status: 'processing', billing: { payment_status: 'paid' } });
    expect((await order(await place())).status).toBe('processing');
  });

  it('defer a delivery that is reported before the shipment, and print the reason', async () => {
    const id = await place();
    expect(await operate(['order', 'deliver', id])).toMatchObject({
      outcome: 'held',
      reason: 'cannot deliver an order that is still processing',
    });
    await operate(['order', 'ship', id, ...shipOptions('D1')]);
    expect((await order(id)).status).toBe('delivered');
  });

  it('cancel and refund an order, and list, show, replay and discard the dead letter of its shipment', async () => {
    const id = await place();
    await operate(['order', 'cancel', id, '--reason', 'changed their mind']);
    expect(await order(id)).toMatchObject({ status: 'cancelled', billing: { payment_status: 'refunded' } });
    expect((await runOps(['order', 'ship', id, ...shipOptions('E1')])).status).toBe(1);
    const ofOrder = async () => {
      const { letters } = deadLetters.parse(
        await operate(['dead-letters', 'list', '--queue', queue, '--limit', '1000']),
      );
      return letters.filter(({ about }) => about['order_id'] === id);
    };
    const [letter] = await ofOrder();
    expect(letter).toMatchObject({
      type: 'fulfilment.shipped',
      reason: 'cannot ship an order that is cancelled',
    });
    const letterArguments = [queue, letter?.id ?? ''];
    expect(await operate(['dead-letters', 'show', ...letterArguments])).toMatchObject({
      queue,
      about: { order_id: id },
    });
    await operate(['dead-letters', 'replay', ...letterArguments]);
    await eventually(async () => (await ofOrder()).length === 1); // rejected again
    expect(await operate(['dead-letters', 'discard', ...letterArguments])).toEqual({
      queue,
      discarded: [letter?.id],
    });
    expect(await ofOrder()).toEqual([]);
    expect((await runOps(['dead-letters', 'show', ...letterArguments])).status).toBe(1);
  });

  it('include `doctor`, which finds nothing wrong with the running suite', async () => {
    // On a busy machine a store may respond too late, which is a finding.
    const findings: string[] = [];
    const examine = async () => {
      const { status, output, errors } = await runOps(['doctor']);
      findings.push(errors);
      return status === 0 ? output : undefined;
    };
    const output = await eventually(examine, { describe: () => findings.join('\n') });
    expect(findings.at(-1)).toBe('');
    expect(output.match(/^status: ok$/gm)).toHaveLength(4); // one for each service
    const inJson = await eventually(() =>
      operate(['doctor', '--service', 'store-api']).catch(() => undefined),
    );
    expect(inJson).toEqual({ service: 'store-api', status: 'ok' });
  });

  it('print one line for an error, and exit with 1', async () => {
    const shipped = await place();
    await operate(['order', 'ship', shipped, ...shipOptions('B1')]);
    const mistakes: readonly (readonly string[])[] = [
      ['order', 'cancel', shipped, '--reason', 'too late'],
      ['order', 'recharge', shipped],
      ['user', 'create', '--email', 'nonsense', '--password', 'long enough to pass'],
      ['creator', 'create', '--organisation', 'org_unknown', '--name', 'N', '--payment-method', 'pm_ok'],
    ];
    const ended = await Promise.all(mistakes.map((args) => runOps(args)));
    for (const [index, { status, output, errors }] of ended.entries()) {
      const command = mistakes[index]?.join(' ');
      expect({ command, status, output, lines: errors.trim().split('\n') }).toEqual({
        command,
        status: 1,
        output: '',
        lines: [expect.stringMatching(/\w/)],
      });
    }
    expect((await order(shipped)).status).toBe('shipped');
  });

  it('print the usage, or name the command as unknown, for an invalid command line', async () => {
    const usage = await runOps(['order', 'ship']);
    expect(usage).toMatchObject({ status: 1, errors: expect.stringContaining('Usage') });
    const unknown = await runOps(['meal', 'eat', 'x']);
    expect(unknown).toMatchObject({ status: 1, errors: expect.stringContaining('Unknown command') });
  });

  it('create a creator that the Creator API lists immediately', async () => {
    const name = `Creator ${randomBytes(4).toString('hex')}`;
    const newCreator = await operate([
      ...['creator', 'create', '--organisation', merchant.organisationId],
      ...['--name', name, '--payment-method', 'pm_ok'],
    ]);
    const { body } = await merchant.dashboard.get('/creator/api/v1/creators').expect(200);
    expect(body.data).toContainEqual({ uuid: newCreator.uuid, org_id: merchant.organisationId });
    expect(newCreator.id).toMatch(/^crt_/);
  });
});
