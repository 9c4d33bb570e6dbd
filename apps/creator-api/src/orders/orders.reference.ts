import { type OperationDoc, textBody } from '@fulfilment/api-reference';
import { numberedPageShape } from '@fulfilment/contracts';
import { RateLimited, ValidationFailed } from '@fulfilment/error-envelope';
import { timelineShape } from './timeline/timeline.shapes.js';
import { orderDetailShape, orderSummaryExample, orderSummaryShape } from './order.shapes.js';
import { notVisible } from '../visibility/not-visible.js';

const tag = 'Orders';
const page = numberedPageShape(orderSummaryShape, orderSummaryExample);

export const listOrders = {
  id: 'listOrders',
  tag,
  summary: "List a creator's orders",
  description: [
    'Returns the orders sorted by `placed_at`, newest first. An order placed through the Store API appears within seconds.\n\n`from` and `to` are days in UTC, both inclusive. A `from` after `to` is rejected',
    '(400 on `from`). `meta.total` is exact, also with filters and past the last page.',
  ].join(' '),
  response: { description: 'A page of orders.', shape: page },
  errors: [notVisible('creator')],
} as const satisfies OperationDoc<typeof page>;

export const readOrder = {
  id: 'readOrder',
  tag,
  summary: 'Read an order',
  description: 'Returns the order with its lines, and the VAT and royalty of each line.',
  response: { description: 'The order.', shape: orderDetailShape },
  errors: [notVisible('order')],
} as const satisfies OperationDoc<typeof orderDetailShape>;

export const readTimeline = {
  id: 'readOrderTimeline',
  tag,
  summary: 'Read the timeline of an order',
  description:
    'Returns when the order was placed, paid, shipped, delivered, cancelled and refunded, with failed charges and changes of the tracking. The Store API lists the webhook deliveries about the order, at `webhook_deliveries_url`.',
  response: { description: 'The timeline.', shape: timelineShape },
  errors: [notVisible('order')],
} as const satisfies OperationDoc<typeof timelineShape>;

export const exportOrders = {
  id: 'exportOrders',
  tag,
  summary: "Export a creator's orders as CSV",
  description: [
    'Returns a line for each order line, the newest order first, from one snapshot. The first line names the columns; amounts are in minor units of `currency`. A cell that a spreadsheet would run',
    'as a formula begins with an apostrophe. A response that breaks off is incomplete: send the request again.',
  ].join(' '),
  response: { description: 'The order lines.', shape: textBody, contentType: 'text/csv' },
  errors: [
    notVisible('creator'),
    {
      when: '`from` is after `to`.',
      example: new ValidationFailed([{ field: 'from', reason: 'must not be after `to`' }]),
    },
    { when: 'Another export of your organisation is running.', example: new RateLimited(1) },
  ],
} as const satisfies OperationDoc;
