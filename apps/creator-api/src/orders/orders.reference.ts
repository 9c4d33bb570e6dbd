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
    'The newest first, by `placed_at`. An order of the Store is here within seconds.\n\n`from` and `to` are days of UTC and both included; a `from` after `to` is refused',
    '(400 on `from`). `meta.total` is exact, also with filters and past the last page.',
  ].join(' '),
  answer: { description: 'A page of orders.', shape: page },
  errors: [{ when: 'You see no such creator.', example: new NotFound('creator') }],
} as const satisfies OperationDoc<typeof page>;

export const readOrder = {
  id: 'readOrder',
  tag,
  summary: 'Read an order',
  description: 'With its lines, and the VAT and royalty of each.',
  answer: { description: 'The order.', shape: orderDetailShape },
  errors: [{ when: 'There is no such order, or not for you.', example: new NotFound('order') }],
} as const satisfies OperationDoc<typeof orderDetailShape>;
