import { idShape, moneyShape } from '@fulfilment/contracts';
import { z } from 'zod';

const rateExample = {
  id: 'rate_01m7xwmwt9fgvq2y3m6d0cze8s',
  name: 'Economy',
  carriers: ['Evri'],
  description: 'Three to five days',
  price: { amount: 285, currency: 'GBP' as const },
};
const rate = z
  .object({
    id: idShape('rate', 'The quote; `shipping_rate_id` of an order within 24 hours'),
    name: z.string().describe('The service'),
    carriers: z.array(z.string()).describe('Who may carry it'),
    description: z.string().nullable().describe('For the customer; null when nothing was written'),
    price: moneyShape.describe('What it costs'),
  })
  .meta({
    id: 'ShippingRate',
    description: 'What a service asks for a parcel.',
    examples: [rateExample],
  });
export type ShippingRateView = z.infer<typeof rate>;
export const shippingRatesShape = z
  .object({ data: z.array(rate).describe('The cheapest first') })
  .meta({ examples: [{ data: [rateExample] }] });

const serviceExample = {
  id: 'svc_01j0000000e00800000000052g',
  name: 'Economy',
  description: 'Three to five days',
  regions: ['United Kingdom', 'Europe', 'Rest of the world'],
};
const service = z
  .object({
    id: idShape('svc', 'The service'),
    name: z.string().describe('Its name'),
    description: z.string().nullable().describe('For the customer; null when nothing was written'),
    regions: z.array(z.string()).describe('Where it goes, in words'),
  })
  .meta({
    id: 'ShippingService',
    description: 'A way to send parcels.',
    examples: [serviceExample],
  });
export type ShippingServiceView = z.infer<typeof service>;
export const shippingServicesShape = z
  .object({ data: z.array(service).max(500).describe('In the order to show them') })
  .meta({ examples: [{ data: [serviceExample] }] });
