import { z } from 'zod';

/** The members of responses that the demo uses. */
const money = z.object({ amount: z.number(), currency: z.string() });
const cursorPage = z.object({ next_cursor: z.string().nullable(), has_more: z.boolean() });

export const release = z.object({
  id: z.string(),
  name: z.string(),
  products: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      availability: z.object({ limited_edition: z.boolean() }),
    }),
  ),
});
export const quote = z.object({
  data: z.array(z.object({ id: z.string(), name: z.string(), price: money })),
});
export const subscription = z.object({
  id: z.string(),
  status: z.literal('active'),
  events: z.array(z.string()),
});
export const placed = z.object({ id: z.string(), status: z.string() });
export const order = z.object({
  id: z.string(),
  status: z.string(),
  tracking: z.object({ carrier: z.string(), tracking_number: z.string() }).nullable(),
});
export const sales = z.object({
  period: z.string(),
  currency: z.string(),
  totals: z.object({ units: z.number(), revenue: z.number() }),
});
export const creatorOrder = z.object({
  uuid: z.string(),
  payment_status: z.string(),
  dispatch_status: z.string(),
  totals: z.object({ royalty: z.number() }),
});
export const lists = {
  releases: z.object({
    data: z.array(z.object({ id: z.string(), name: z.string(), price_range: z.unknown() })),
    pagination: cursorPage,
  }),
  creatorOrders: z.object({
    data: z.array(z.object({ uuid: z.string(), human_order_id: z.string(), tracking_code: z.string() })),
    meta: z.object({ page: z.number(), per_page: z.number(), total: z.number() }),
  }),
};
