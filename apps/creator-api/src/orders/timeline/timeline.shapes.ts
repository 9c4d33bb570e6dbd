import { z } from 'zod';

/** Events with the same time are sorted in this order. */
export const timelineEvents = [
  'placed',
  'charge_failed',
  'paid',
  'shipped',
  'tracking_updated',
  'delivered',
  'cancelled',
  'refunded',
] as const;

/** A timeline shows at most this many of the events that messages reported, the newest ones. */
export const maxReportedEvents = 200;
/** `placed`, `paid` and `refunded`, whose times are in the row of the order. */
const maxOrderDates = 3;

const tracking = z
  .object({
    carrier: z.string().describe('The carrier'),
    tracking_number: z.string().describe('Tracking number of the package'),
    tracking_url: z.string().describe('Tracking page of the carrier; empty if there is none'),
  })
  .meta({
    id: 'TimelineTracking',
    description: 'Tracking of the newest package at that time.',
    examples: [
      {
        carrier: 'Royal Mail',
        tracking_number: 'RM123456789GB',
        tracking_url: 'https://www.royalmail.com/track-your-item#/tracking-results/RM123456789GB',
      },
    ],
  });

const entry = z.object({
  at: z.iso
    .datetime()
    .describe(
      'When the event happened; for `shipped`, `tracking_updated` and `delivered`, when the report of the warehouse was applied',
    ),
  event: z
    .enum(timelineEvents)
    .describe(
      '`charge_failed` is a charge that was declined, `paid` the one that succeeded, `refunded` the return of the money',
    ),
  reason: z.string().nullable().describe('Why the charge failed or the order was cancelled; else null'),
  tracking: tracking
    .nullable()
    .describe(
      'For `shipped` and `tracking_updated`, the tracking of the newest package at that time; else null',
    ),
});

export const timelineShape = z
  .object({
    data: z
      .array(entry)
      .max(maxReportedEvents + maxOrderDates)
      .describe('The events, oldest first'),
    webhook_deliveries_url: z
      .url()
      .describe(
        'URL in the Store API that lists the webhook deliveries about the order. It requires a token of its creator with the scope `webhooks:read`',
      ),
  })
  .meta({
    id: 'OrderTimeline',
    description: 'What happened to an order.',
    examples: [
      {
        data: [
          { at: '2026-11-20T10:15:30.000Z', event: 'placed', reason: null, tracking: null },
          { at: '2026-11-20T10:15:31.000Z', event: 'paid', reason: null, tracking: null },
        ],
        webhook_deliveries_url:
          'https://localhost:8443/store/v1/webhook-deliveries?order_id=ord_01m7xwmx1ceqrv87vt909ma64h',
      },
    ],
  });
export type TimelineView = z.infer<typeof timelineShape>;
export type TimelineEntry = TimelineView['data'][number];
