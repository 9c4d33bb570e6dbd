import type { OperationDoc } from '@fulfilment/api-reference';
import { cursorPageShape } from '@fulfilment/contracts';
import { NotFound, Unprocessable } from '@fulfilment/error-envelope';
import { keyConflicts } from '@fulfilment/http-service';
import { orderShape, orderSummaryExample, orderSummaryShape, placedOrderShape } from './order.shapes.js';

const tag = 'Orders';

export const placeOrder = {
  id: 'placeOrder',
  tag,
  summary: 'Place an order',
  description: [
    'Send an `idempotency-key` with every order, and retry only with it: then there is one order and one charge, however often the request is repeated. Without a',
    'key a 429 or 503 has no `Retry-After`, since the order may have been placed.\n\nThe operation sends products of the connected creator to an address by a quoted rate. The creator is charged the catalogue prices and the shipping; `unit_price` is',
    'what the merchant charged the customer, and is shown, never charged.',
    'A declined payment is an order too (`payment_failed`); one whose outcome is unknown after 10 s is `pending`, and an event reports the outcome.',
  ].join(' '),
  body: {
    complete: {
      summary: 'With everything',
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
        shipping_rate_id: 'rate_01m7xwmwt9fgvq2y3m6d0cze8s',
        source: { platform: 'shopify', store_id: 'harbour-lights', external_order_id: '#1042' },
      },
    },
  },
  answer: {
    description: 'The order was placed, now or by an earlier request with the same key.',
    shape: placedOrderShape,
    headers: ['Location', 'Idempotent-Replayed'],
    examples: {
      processing: { summary: 'Paid', value: { id: 'ord_01m7xwmx1ceqrv87vt909ma64h', status: 'processing' } },
      payment_failed: {
        summary: 'The payment was refused',
        value: { id: 'ord_01m7xwmx1ceqrv87vt909ma64h', status: 'payment_failed' },
      },
      pending: {
        summary: 'The outcome of the payment is not known yet',
        value: { id: 'ord_01m7xwmx1ceqrv87vt909ma64h', status: 'pending' },
      },
    },
  },
  errors: [
    {
      when: 'The rate does not exist, or the token is not connected to a creator.',
      example: new NotFound('shipping rate'),
    },
    ...keyConflicts,
    {
      when: 'Lines that cannot be sold, each by `items.<index>.sku`: `unknown_sku`, `not_available`, `insufficient_stock` or `not_shippable_to_country`.',
      example: new Unprocessable('Some items cannot be ordered.', [
        { field: 'items.0.sku', reason: 'insufficient_stock' },
      ]),
    },
    {
      when: 'The rate (`shipping_rate_id`) is `expired` or of `other_country`, or an item has another currency than the rate (`items.<index>.unit_price.currency`).',
      example: new Unprocessable('An order has one currency.', [
        { field: 'items.0.unit_price.currency', reason: 'must be GBP, as the shipping rate' },
      ]),
    },
    {
      when: 'The order is worth more than 9007199254740991 (`items`: `total_too_large`).',
      example: new Unprocessable('The order is worth more than we can count.', [
        { field: 'items', reason: 'total_too_large' },
      ]),
    },
    {
      when: 'The creator cannot be charged (`billing`: `payment_method_missing` or `payment_terms_not_accepted`).',
      example: new Unprocessable('The creator has no payment method.', [
        { field: 'billing', reason: 'payment_method_missing' },
      ]),
    },
  ],
} as const satisfies OperationDoc<typeof placedOrderShape>;

const page = cursorPageShape(orderSummaryShape, orderSummaryExample);

export const listOrders = {
  id: 'listOrders',
  tag,
  summary: 'List orders',
  description:
    "The connected creator's orders, the newest first. One just placed is there at once. Orders that are placed at the same time may appear in another " +
    'order than that of their `created_at`: a client that polls for new orders reads on until it has seen a full minute of known ones, or subscribes to `order.created`.',
  answer: { description: 'A page of orders.', shape: page },
} as const satisfies OperationDoc<typeof page>;

export const readOrder = {
  id: 'readOrder',
  tag,
  summary: 'Read an order',
  path: { id: { description: 'The order', example: 'ord_01m7xwmx1ceqrv87vt909ma64h' } },
  answer: { description: 'The order in full.', shape: orderShape },
  errors: [{ when: "There is no such order, or it is another creator's.", example: new NotFound('order') }],
} as const satisfies OperationDoc<typeof orderShape>;
