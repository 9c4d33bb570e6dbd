import { publicId, uuidv7 } from '@fulfilment/contracts';
import { statusesByAction } from '../orders/order.rules.js';
import { simulatedEvent, statusesForEvent } from './simulated-events.rules.js';

const orderId = uuidv7();
const order_id = publicId('ord', orderId);
const occurredAt = new Date('2026-11-20T12:00:00Z');
const tracking = {
  order_id,
  carrier: 'Test Carrier',
  tracking_number: `TEST${occurredAt.getTime()}`,
  tracking_url: `https://track.example/TEST${occurredAt.getTime()}`,
};

describe('an event of the simulated warehouse', () => {
  it.each([
    ['shipped', 'fulfilment.shipped', tracking],
    ['tracking_updated', 'fulfilment.tracking_corrected', tracking],
    ['delivered', 'fulfilment.delivered', { order_id }],
    ['cancelled', 'fulfilment.cancelled', { order_id, reason: 'Cancelled in test mode.' }],
  ] as const)('that reports %s is the message %s of a warehouse', (event, type, data) => {
    expect(simulatedEvent(event, orderId, occurredAt)).toMatchObject({
      type,
      data,
      occurred_at: occurredAt.toISOString(),
    });
  });

  it.each([
    ['shipped', 'ship'],
    ['tracking_updated', 'correct_tracking'],
    ['delivered', 'deliver'],
    ['cancelled', 'cancel'],
  ] as const)('%s is reported only in statuses in which it is applied', (event, action) => {
    expect(statusesByAction[action].applied).toEqual(expect.arrayContaining([...statusesForEvent[event]]));
  });
});
