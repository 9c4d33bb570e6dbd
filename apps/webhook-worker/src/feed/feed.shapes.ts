import { webhookEnvelopeShape } from '@fulfilment/contracts';
import { z } from 'zod';
import { maxPageEvents } from './feed.dto.js';

const eventExample = {
  id: 'evt_01m7xwmx3fyb2a9s6d4k8q1r7c',
  api_version: '2026-11-01',
  created_at: '2026-11-21T09:30:00.000Z',
  event: 'order.cancelled' as const,
  data: { order_id: 'ord_01k9zjx8dje1yrwkt0c5rr7502', updated_at: '2026-11-21T09:30:00.000Z' },
};

export const feedPageShape = z
  .object({
    data: z
      .array(webhookEnvelopeShape)
      .max(maxPageEvents)
      .describe('The events in the order of the feed, each as in the body of a delivery'),
    next: z.string().describe('Send it as `after` to read the events after these'),
    has_more: z.boolean().describe('Whether there are events after these already'),
  })
  .meta({
    id: 'EventFeedPage',
    description: 'Events of the connected creator.',
    examples: [
      { data: [eventExample], next: 'MTc5NTI1MzQwMDAwMDAwMDpmZWVk.c2lnbmF0dXJlLW9mLTE2QQ', has_more: false },
    ],
  });
export type FeedPage = z.infer<typeof feedPageShape>;
