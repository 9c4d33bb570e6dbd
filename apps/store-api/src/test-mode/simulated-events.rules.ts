import { type Message, messages, type OrderStatus, publicId } from '@fulfilment/contracts';
import type { WarehouseEvent } from './test-orders.dto.js';

/** The statuses of a test order in which the simulated warehouse reports an event. */
export const statusesForEvent: Readonly<Record<WarehouseEvent, readonly OrderStatus[]>> = {
  shipped: ['processing'],
  tracking_updated: ['shipped', 'delivered'],
  delivered: ['shipped'],
  cancelled: ['processing', 'payment_failed'],
};

/** Returns the fulfilment event that a warehouse would publish. All pieces are in one package. */
export function simulatedEvent(event: WarehouseEvent, orderId: string, occurredAt: Date): Message {
  const order_id = publicId('ord', orderId);
  const trackingNumber = `TEST${occurredAt.getTime()}`;
  const tracking = {
    carrier: 'Test Carrier',
    tracking_number: trackingNumber,
    tracking_url: `https://track.example/${trackingNumber}`,
  };
  switch (event) {
    case 'shipped':
      return messages.fulfilmentShipped.make({ order_id, ...tracking }, { occurredAt });
    case 'tracking_updated':
      return messages.fulfilmentTrackingCorrected.make({ order_id, ...tracking }, { occurredAt });
    case 'delivered':
      return messages.fulfilmentDelivered.make({ order_id }, { occurredAt });
    case 'cancelled':
      return messages.fulfilmentCancelled.make(
        { order_id, reason: 'Cancelled in test mode.' },
        { occurredAt },
      );
  }
}
