import { currencies, numberedPageShape } from '@fulfilment/contracts';
import { z } from 'zod';
import { monthPattern, sums } from '../statistics/statistics.shapes.js';

/** The members `orders` and `totals`, of an app or of orders whose app is not known. */
const orderFigures = (placedBy: string) => ({
  orders: z.int().describe(`Number of orders that ${placedBy} placed in these months`),
  totals: z
    .object(sums)
    .describe(`Sums of payments and refunds in these months, of orders that ${placedBy} placed`),
});

const appExample = {
  client_id: 'app_reader',
  name: 'Shop connector',
  first_party: false,
  connected_at: '2026-08-04T09:12:00.000Z',
  orders: 5,
  totals: { units: 6, revenue: 17994, royalties: 2250 },
};

const appShape = z
  .object({
    client_id: z.string().describe('The OAuth client'),
    name: z.string().nullable().describe('Name of the app; null if it is not known'),
    first_party: z
      .boolean()
      .describe('Whether this service provides the app, which then needs no connection'),
    connected_at: z.iso
      .datetime()
      .nullable()
      .describe('When a person of the organisation first connected the app; null if it is not connected now'),
    ...orderFigures('the app'),
  })
  .meta({ id: 'ConnectedApp', description: 'An app and its orders.', examples: [appExample] });

export const connectedAppsShape = z
  .object({
    from: z.string().regex(monthPattern).describe('The first month'),
    to: z.string().regex(monthPattern).describe('The last month'),
    currency: z.enum(currencies).describe('Currency of all amounts: the settlement currency of the creator'),
    unknown: z
      .object(orderFigures('an unknown app'))
      .describe(
        'Orders and payments whose app is not known. All pages of apps and `unknown` add up to the statistics',
      ),
    ...numberedPageShape(appShape, appExample).shape,
  })
  .meta({
    id: 'ConnectedApps',
    description: 'The apps of a creator, the highest revenue first.',
    examples: [
      {
        from: '2026-01',
        to: '2026-12',
        currency: 'GBP',
        unknown: { orders: 0, totals: { units: 0, revenue: 0, royalties: 0 } },
        data: [appExample],
        meta: { page: 1, per_page: 25, total: 1 },
      },
    ],
  });
export type ConnectedAppsView = z.infer<typeof connectedAppsShape>;
