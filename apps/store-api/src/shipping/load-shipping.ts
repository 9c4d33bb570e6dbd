import { currencies } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { z } from 'zod';

/**
 * Maximum of each price, in minor units. The price of a parcel of 100 t, the heaviest one that is quoted, is
 * then below `maxAmount`.
 */
const maxPrice = 1_000_000_000;

/** The operator's file of zones, services and rate cards. */
export const shippingFile = z.object({
  /** Countries (ISO 3166-1 alpha-2) of each zone; a country is in one zone. */
  zones: z.record(z.string(), z.array(z.string().regex(/^[A-Z]{2}$/))).superRefine((zones, context) => {
    const byCountry = Map.groupBy(countriesOf(zones), ({ country }) => country);
    for (const [country, entries] of byCountry)
      if (entries.length > 1)
        context.addIssue(
          `${country} may be listed once, but is in ${entries.map(({ zone }) => zone).join(' and ')}`,
        );
  }),
  services: z.array(
    z.object({
      id: z.uuid(),
      name: z.string(),
      description: z.string().nullable(),
      carriers: z.array(z.string()).min(1),
      regions: z.array(z.string()),
      position: z.int(),
      /** Working days from the hand-over to the carrier until the delivery, by zone. */
      delivery_days: z
        .record(
          z.string(),
          z
            .object({ min: z.int().min(0).max(365), max: z.int().min(0).max(365) })
            .refine(({ min, max }) => min <= max, 'min must not be greater than max'),
        )
        .default({}),
      rate_cards: z.array(
        z.object({
          zone: z.string(),
          currency: z.enum(currencies),
          bands: z
            .array(
              z.object({
                max_weight_grams: z.int().min(1),
                amount: z.int().min(0).max(maxPrice),
                /** Price of each started 500 g above the heaviest band; unused in the other bands. */
                extra_500g_amount: z.int().min(0).max(maxPrice),
              }),
            )
            .min(1),
        }),
      ),
    }),
  ),
});
export type ShippingFile = z.output<typeof shippingFile>;

const clearZones = statement('load.clear-zones', 'DELETE FROM shipping_zone_countries');
const insertZones = statement(
  'load.zones',
  'INSERT INTO shipping_zone_countries (zone, country_code) SELECT * FROM unnest($1::text[], $2::text[])',
);
const upsertService = statement(
  'load.service',
  `INSERT INTO shipping_services (id, name, description, carriers, regions, position) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description, carriers = excluded.carriers,
     regions = excluded.regions, position = excluded.position`,
);
const clearCards = statement('load.clear-cards', 'DELETE FROM rate_cards WHERE service_id = $1');
const insertCards = statement(
  'load.cards',
  `INSERT INTO rate_cards (service_id, zone, currency, max_weight_grams, amount, extra_500g_amount)
   SELECT $1, * FROM json_to_recordset($2::json) AS card (zone text, currency text, max_weight_grams int, amount bigint, extra_500g_amount bigint)`,
);

const clearDeliveryTimes = statement(
  'load.clear-delivery-times',
  'DELETE FROM delivery_times WHERE service_id = $1',
);
const insertDeliveryTimes = statement(
  'load.delivery-times',
  `INSERT INTO delivery_times (service_id, zone, min_days, max_days)
   SELECT $1, zone, min, max FROM json_to_recordset($2::json) AS days (zone text, min int, max int)`,
);

/**
 * Replaces all zones, and the services in the file with their rate cards and delivery times, in one
 * transaction. Services that are not in the file stay. A quote keeps its price for the quoted weight.
 * @returns the numbers of services and zones in the file
 * @throws Error when two bands of a service have the same zone, currency and weight
 */
export async function loadShipping(
  database: Database,
  { zones, services }: ShippingFile,
): Promise<{ services: number; zones: number }> {
  const zoneCountries = countriesOf(zones);
  await database.transaction(async (tx) => {
    await tx.run(clearZones);
    await tx.run(insertZones, [
      zoneCountries.map(({ zone }) => zone),
      zoneCountries.map(({ country }) => country),
    ]);
    for (const service of services) {
      const { id, name, description, carriers, regions, position, rate_cards: cards } = service;
      await tx.run(upsertService, [id, name, description, carriers, regions, position]);
      await tx.run(clearCards, [id]);
      const rows = cards.flatMap(({ zone, currency, bands }) =>
        bands.map((band) => ({ zone, currency, ...band })),
      );
      const keys = new Set(rows.map((row) => `${row.zone} ${row.currency} ${row.max_weight_grams}`));
      if (keys.size < rows.length)
        throw new Error(`The service ${name} has two bands of the same zone, currency and weight.`);
      await tx.run(insertCards, [id, JSON.stringify(rows)]);
      await tx.run(clearDeliveryTimes, [id]);
      const deliveryTimes = Object.entries(service.delivery_days).map(([zone, days]) => ({
        zone,
        ...days,
      }));
      await tx.run(insertDeliveryTimes, [id, JSON.stringify(deliveryTimes)]);
    }
  });
  return { services: services.length, zones: Object.keys(zones).length };
}

function countriesOf(zones: Readonly<Record<string, readonly string[]>>) {
  return Object.entries(zones).flatMap(([zone, countries]) =>
    countries.map((country) => ({ zone, country })),
  );
}
