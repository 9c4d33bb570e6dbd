import { type OperationDoc, textBody } from '@fulfilment/api-reference';
import { RateLimited } from '@fulfilment/error-envelope';
import { notVisible } from '../visibility/not-visible.js';

export const streamOrders = {
  id: 'streamOrders',
  tag: 'Orders',
  summary: 'Stream new orders',
  description: [
    'Returns server-sent events (`EventSource`, or `fetch` with an `Authorization` header). The first event is `open`: read the list of orders then. Each new order is an `order.created` with the',
    'order as in the list, less than a second after the list has it. An order that becomes known more than a day after it was placed is in the list only. Handle each `uuid` once. The stream ends when the access token expires or is revoked, and at a roll-out; connect again with the last `id` as',
    '`Last-Event-ID`, and no order of the last 24 hours is skipped. If it is older, or unknown, the first event is `reset` instead of `open`: read the list again. A comment is sent every 15 seconds, so that a broken connection is noticed.',
  ].join(' '),
  headers: {
    'Last-Event-ID': {
      description: 'The `id` of the last event that was handled. The stream continues after it.',
      example: 'MTc5NTI1MzQwMDAwMDAwMDo1YjY0.4Rk1bJ3pQy8',
    },
  },
  response: { description: 'The events.', shape: textBody, contentType: 'text/event-stream' },
  errors: [
    notVisible('creator'),
    {
      when: 'Your organisation has 20 streams open at this replica of the service, or the replica has too many.',
      example: new RateLimited(5),
    },
  ],
} as const satisfies OperationDoc;
