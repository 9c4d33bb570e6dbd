import type { OperationDoc } from '@fulfilment/api-reference';
import { cursorPageShape } from '@fulfilment/contracts';
import { NotFound, Unprocessable } from '@fulfilment/error-envelope';
import { keyConflicts } from '@fulfilment/http-service';
import { orderEstimateShape } from './pricing/estimate.shapes.js';
import { alreadyShipped } from './cancelling/cancel-order.js';
import {
  orderExample,
  orderShape,
  orderSummaryExample,
  orderSummaryShape,
  placedOrderShape,
} from './order.shapes.js';

const tag = 'Orders';

const rateNotFound = {
  when: 'The shipping rate does not exist, or the token is not connected to a creator.',
  example: new NotFound('shipping rate'),
};
const itemsNotOrderable = {
  when: 'Some items cannot be ordered. `items.<index>.sku` names each: `unknown_sku`, `not_available`, `insufficient_stock` or `not_shippable_to_country`.',
  example: new Unprocessable('Some items cannot be ordered.', [
    { field: 'items.0.sku', reason: 'insufficient_stock' },
  ]),
};
const totalTooLarge = {
  when: 'The total of the order exceeds 9007199254740991 (`items`: `total_too_large`).',
  example: new Unprocessable('The total of the order is too large.', [
    { field: 'items', reason: 'total_too_large' },
  ]),
};
const notChargeable = {
  when: 'The creator cannot be charged (`billing`: `payment_method_missing` or `payment_terms_not_accepted`).',
  example: new Unprocessable('The creator has no payment method.', [
    { field: 'billing', reason: 'payment_method_missing' },
  ]),
};

export const placeOrder = {
  id: 'placeOrder',
  tag,
  summary: 'Place an order',
  description: [
    'Send an `idempotency-key` with every order, and retry only with the same key: repeated requests then place one order and make one charge.',
    'Do not retry without a key: the order may have been placed. So a 429 or 503 has no `Retry-After` if the request had no key.\n\nThe operation orders products of the connected creator and ships them to an address with a quoted rate.',
    'The creator is charged the catalogue prices and the shipping. `unit_price` is the price that the merchant charged the customer; it is stored but never charged.',
    'If the payment is declined, the order exists as `payment_failed`. If the outcome is unknown after 10 s, the order is `pending`, and an event reports the outcome. While the payment provider fails for all orders, an order is `pending` at once.',
  ].join(' '),
  body: {
    complete: {
      summary: 'An order with all members',
      value: {
        items: [
          {
            sku: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n',
            quantity: 2,
            unit_price: { amount: 2999, currency: 'GBP' },
          },
        ],
        shipping_address: {
          full_name: 'Aiko Mori',
          address_line_1: '1 Quay Street',
          city: 'London',
          postal_code: 'N1 1AA',
          country_code: 'GB',
        },
        shipping_rate_id: 'rate_8KdEfAGQAAAAAHAAgAAAAAAAAAxHQkdCUAAAAAAAAAEdAAAD6GsBh8AQPlX6BGFalH2dE0OmbY3G',
        source: { platform: 'shopify', store_id: 'harbour-lights', external_order_id: '#1042' },
        metadata: { cart: 'c_8841', campaign: 'autumn' },
      },
    },
  },
  response: {
    description: 'The order, placed by this request or by an earlier one with the same key.',
    shape: placedOrderShape,
    headers: ['Location', 'Idempotent-Replayed'],
    examples: {
      processing: { summary: 'Paid', value: { id: 'ord_01m7xwmx1ceqrv87vt909ma64h', status: 'processing' } },
      payment_failed: {
        summary: 'The payment was declined',
        value: { id: 'ord_01m7xwmx1ceqrv87vt909ma64h', status: 'payment_failed' },
      },
      pending: {
        summary: 'The outcome of the payment is not known yet',
        value: { id: 'ord_01m7xwmx1ceqrv87vt909ma64h', status: 'pending' },
      },
    },
  },
  errors: [
    rateNotFound,
    ...keyConflicts,
    itemsNotOrderable,
    {
      when: 'The rate (`shipping_rate_id`) is `expired` or was quoted for another country (`other_country`), or the currency of an item differs from that of the rate (`items.<index>.unit_price.currency`).',
      example: new Unprocessable('All items must have the currency of the shipping rate.', [
        { field: 'items.0.unit_price.currency', reason: 'must be GBP, the currency of the shipping rate' },
      ]),
    },
    totalTooLarge,
    notChargeable,
  ],
} as const satisfies OperationDoc<typeof placedOrderShape>;

const page = cursorPageShape(orderSummaryShape, orderSummaryExample);

export const listOrders = {
  id: 'listOrders',
  tag,
  summary: 'List orders',
  description:
    'Returns the orders of the connected creator, newest first. A placed order is listed immediately. ' +
    'Orders that are placed concurrently may become visible in a different sequence than their `created_at`. ' +
    'To poll for new orders, read back until every order of one whole minute was seen before, or subscribe to `order.created` instead.\n\n' +
    'To keep a copy of all orders, poll with `updated_since`: read to the last page, keep the newest `updated_at`, and begin the next poll one minute before it. ' +
    'An order that changes during a poll is returned once more. Of two versions of an order, keep the one with the later `updated_at`.',
  response: { description: 'A page of orders.', shape: page },
} as const satisfies OperationDoc<typeof page>;

export const readOrder = {
  id: 'readOrder',
  tag,
  summary: 'Read an order',
  path: { id: { description: 'The order', example: 'ord_01m7xwmx1ceqrv87vt909ma64h' } },
  response: { description: 'The order.', shape: orderShape },
  errors: [
    { when: 'The order does not exist, or belongs to another creator.', example: new NotFound('order') },
  ],
} as const satisfies OperationDoc<typeof orderShape>;

export const cancelOrder = {
  id: 'cancelOrder',
  tag,
  summary: 'Cancel an order',
  description: [
    'Cancels an order of any status before `shipped`: `pending`, `processing` or `payment_failed`.',
    'A charge that succeeded is refunded in full, pieces of limited editions return to the stock, and `order.cancelled` notifies the warehouse.',
    '`billing.payment_status` of a paid order is `refunded` at once; the provider may need some days for the refund.',
    '\n\nThe request may be repeated, with or without an `idempotency-key`: an order that is cancelled already is returned without a change.',
    'A payment that is still being processed is refunded if it succeeds.',
  ].join(' '),
  path: { id: { description: 'The order', example: 'ord_01m7xwmx1ceqrv87vt909ma64h' } },
  body: {
    complete: { summary: 'With a reason', value: { reason: 'Ordered twice by mistake' } },
    empty: { summary: 'Without a reason', value: {} },
  },
  response: {
    description: 'The cancelled order.',
    shape: orderShape,
    headers: ['Idempotent-Replayed'],
    examples: {
      cancelled: {
        summary: 'Cancelled and refunded',
        value: {
          ...orderExample,
          status: 'cancelled',
          billing: { ...orderExample.billing, payment_status: 'refunded' },
        },
      },
    },
  },
  errors: [
    { when: 'The order does not exist, or belongs to another creator.', example: new NotFound('order') },
    {
      when: 'The first package of the order was handed to the carrier (`already_shipped`): it is too late.',
      example: alreadyShipped(),
    },
    ...keyConflicts,
  ],
} as const satisfies OperationDoc<typeof orderShape>;

export const estimateOrder = {
  id: 'estimateOrder',
  tag,
  summary: 'Estimate the cost of an order',
  description: [
    'Returns what the creator would be charged for an order, and writes nothing: no order, no charge, and no stock is taken. An estimate is rejected like the order, except that of the address only the country is checked, and `unit_price` is ignored.',
    'The body of an order may be sent as it is; members that are not listed here are ignored. The cost of the order is the same as long as the catalogue does not change. If the parcel has another weight than that of the rate, the shipping prices must not change either.',
    'The request may be repeated at any time, so an `idempotency-key` has no effect.',
  ].join(' '),
  body: {
    parcel: {
      summary: 'Two records to the United Kingdom',
      value: {
        items: [{ sku: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n', quantity: 2 }],
        shipping_address: { country_code: 'GB' },
        shipping_rate_id: 'rate_8KdEfAGQAAAAAHAAgAAAAAAAAAxHQkdCUAAAAAAAAAEdAAAD6GsBh8AQPlX6BGFalH2dE0OmbY3G',
      },
    },
  },
  response: { description: 'The estimate.', shape: orderEstimateShape },
  errors: [
    rateNotFound,
    itemsNotOrderable,
    {
      when: 'The rate (`shipping_rate_id`) is `expired` or was quoted for another country (`other_country`).',
      example: new Unprocessable('This shipping rate cannot be used for the order.', [
        { field: 'shipping_rate_id', reason: 'expired' },
      ]),
    },
    totalTooLarge,
    notChargeable,
  ],
} as const satisfies OperationDoc<typeof orderEstimateShape>;
