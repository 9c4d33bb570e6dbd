import type { OperationDoc } from '@fulfilment/api-reference';
import { numberedPageShape } from '@fulfilment/contracts';
import { NotFound } from '@fulfilment/error-envelope';
import { orderDetailShape, orderSummaryExample, orderSummaryShape } from './order.shapes.js';

const tag = 'Orders';
const page = numberedPageShape(orderSummaryShape, orderSummaryExample);

export const listOrders = {
  id: 'listOrders',
  tag,
  summary: "List a creator's orders",
  description: [
    'Returns the orders sorted by `placed_at`, newest first. An order placed in the Store appears within seconds.\n\n`from` and `to` are days in UTC, both inclusive. A `from` after `to` is rejected',
    '(400 on `from`). `meta.total` is exact, also with filters and past the last page.',
  ].join(' '),
  response: { description: 'A page of orders.', shape: page },
  errors: [
    { when: 'The creator does not exist, or is not visible to you.', example: new NotFound('creator') },
  ],
} as const satisfies OperationDoc<typeof page>;

export const readOrder = {
  id: 'readOrder',
  tag,
  summary: 'Read an order',
  description: 'Returns the order with its lines, and the VAT and royalty of each line.',
  response: { description: 'The order.', shape: orderDetailShape },
  errors: [{ when: 'The order does not exist, or is not visible to you.', example: new NotFound('order') }],
} as const satisfies OperationDoc<typeof orderDetailShape>;
