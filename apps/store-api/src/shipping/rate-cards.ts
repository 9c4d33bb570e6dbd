import type { Currency } from '@fulfilment/contracts';
import { type Sql, statement } from '@fulfilment/database';
import { bandPrice, type WeightBand } from './rate.rules.js';

/** Working days from the hand-over to the carrier until the delivery. */
interface DeliveryDays {
  readonly min: number;
  readonly max: number;
}

/** A service with its prices to one country in one currency. */
interface ServiceRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly carriers: string[];
  /** Null if the operator states no delivery time. */
  readonly deliveryDays: DeliveryDays | null;
  readonly bands: WeightBand[];
  /** Time of PostgreSQL's clock. */
  readonly pricedAt: Date;
}

/** A service with the price of one parcel, in minor units. */
interface PricedService extends Omit<ServiceRow, 'bands'> {
  readonly amount: number;
}

const aggregatedBands = `json_agg(json_build_object('maxWeightGrams', c.max_weight_grams, 'amount', c.amount,
                                     'extra500gAmount', c.extra_500g_amount) ORDER BY c.max_weight_grams)`;

/** SQL for the weight bands of one service to a country; null when it does not ship there. */
export const bandsSql = (serviceId: string, countryCode: string, currency: string): string => `(
  SELECT ${aggregatedBands} FROM shipping_zone_countries z
  JOIN rate_cards c ON c.zone = z.zone AND c.currency = ${currency} AND c.service_id = ${serviceId}
  WHERE z.country_code = ${countryCode})`;

const readServicesToCountry = statement(
  'shipping.services-to-country',
  `SELECT s.id, s.name, s.description, s.carriers,
          CASE WHEN d.zone IS NOT NULL THEN json_build_object('min', d.min_days, 'max', d.max_days) END AS "deliveryDays",
          ${aggregatedBands} AS bands, now() AS "pricedAt"
   FROM shipping_zone_countries z
   JOIN rate_cards c ON c.zone = z.zone AND c.currency = $2
   JOIN shipping_services s ON s.id = c.service_id
   LEFT JOIN delivery_times d ON d.service_id = s.id AND d.zone = z.zone
   WHERE z.country_code = $1
   GROUP BY s.id, d.service_id, d.zone`,
);

/**
 * Prices a parcel with every service that ships to the country; cheapest first, then by name.
 * @param parcel without `weightGrams`, the price of the lightest band applies
 */
export async function priceServices(
  sql: Sql,
  parcel: {
    readonly countryCode: string;
    readonly currency: Currency;
    readonly weightGrams: number | undefined;
  },
): Promise<PricedService[]> {
  const rows = await sql.rows<ServiceRow>(readServicesToCountry, [parcel.countryCode, parcel.currency]);
  return rows
    .flatMap(({ bands, ...service }) => {
      const amount = bandPrice(bands, parcel.weightGrams);
      return amount === undefined ? [] : [{ ...service, amount }];
    })
    .sort((a, b) => a.amount - b.amount || a.name.localeCompare(b.name));
}
