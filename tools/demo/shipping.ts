import countries from 'i18n-iso-countries';
import { stableUuid } from './catalogue.ts';

const zones: Readonly<Record<string, readonly string[]>> = {
  uk: ['GB', 'GG', 'JE', 'IM'],
  europe:
    'AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS SE SI SK SM UA VA'.split(
      ' ',
    ),
  north_america: ['US', 'CA', 'PM'],
  asia_pacific: 'JP KR TW HK MO SG AU NZ CN MY TH PH ID VN'.split(' '),
};

/** ISO 3166-1 assigns no numbers from 900 on (§8.1.3). The package gives one to XK, which is excluded. */
const firstUnassignedNumber = 900;

/** Returns the zones, and as the rest of the world all other countries of ISO 3166-1. */
function worldZones(): Record<string, readonly string[]> {
  const listed = new Set(Object.values(zones).flat());
  return {
    ...zones,
    rest_of_world: Object.keys(countries.getAlpha2Codes()).filter(
      (code) => !listed.has(code) && Number(countries.alpha2ToNumeric(code)) < firstUnassignedNumber,
    ),
  };
}

/** Price factor of each weight band, relative to the lightest, by its maximum weight in grams. */
const bandFactors = { 250: 1, 500: 1.3, 1000: 1.7, 2000: 2.5, 5000: 4.2, 10_000: 7 } as const;
/** Price factor of each further 500 g above the last band. */
const extraFactor = 0.35;
/** Price levels relative to GBP, which are not exchange rates. Yen prices are multiples of 10. */
const priceLevels = { GBP: 1, USD: 1.25, EUR: 1.2, JPY: 1.9 } as const;

function rateCards(pence: Readonly<Record<string, number>>) {
  return Object.entries(pence).flatMap(([zone, lightest]) =>
    Object.entries(priceLevels).map(([currency, level]) => {
      const price = (factor: number): number => {
        const amount = lightest * factor * level;
        return currency === 'JPY' ? Math.round(amount / 10) * 10 : Math.round(amount);
      };
      return {
        zone,
        currency,
        bands: Object.entries(bandFactors).map(([maxGrams, factor]) => ({
          max_weight_grams: Number(maxGrams),
          amount: price(factor),
          extra_500g_amount: price(extraFactor),
        })),
      };
    }),
  );
}

/** Returns zones for the whole world, and three services with their rate cards in every currency. */
export function demoShipping() {
  const id = (name: string): string => stableUuid(new Date(Date.UTC(2024, 0, 1)), `service:${name}`);
  return {
    zones: worldZones(),
    services: [
      {
        id: id('economy'),
        name: 'Economy',
        description: 'Untracked, 3 to 15 working days',
        carriers: ['Postal network'],
        regions: ['Worldwide'],
        position: 1,
        delivery_days: {
          uk: { min: 3, max: 5 },
          europe: { min: 5, max: 10 },
          north_america: { min: 7, max: 12 },
          asia_pacific: { min: 8, max: 15 },
          rest_of_world: { min: 8, max: 15 },
        },
        rate_cards: rateCards({
          uk: 285,
          europe: 690,
          north_america: 890,
          asia_pacific: 950,
          rest_of_world: 1150,
        }),
      },
      {
        id: id('tracked'),
        name: 'Tracked',
        description: 'Tracked to the door, 2 to 8 working days',
        carriers: ['Royal Mail', 'DPD'],
        regions: ['United Kingdom', 'Europe', 'North America', 'Asia and Pacific'],
        position: 2,
        delivery_days: {
          uk: { min: 2, max: 3 },
          europe: { min: 3, max: 5 },
          north_america: { min: 4, max: 7 },
          asia_pacific: { min: 5, max: 8 },
        },
        rate_cards: rateCards({ uk: 395, europe: 1090, north_america: 1390, asia_pacific: 1490 }),
      },
      {
        id: id('express'),
        name: 'Express',
        description: 'Next working day to three days',
        carriers: ['DHL Express'],
        regions: ['Worldwide'],
        position: 3,
        delivery_days: {
          uk: { min: 1, max: 1 },
          europe: { min: 1, max: 2 },
          north_america: { min: 2, max: 3 },
          asia_pacific: { min: 2, max: 3 },
          rest_of_world: { min: 3, max: 3 },
        },
        rate_cards: rateCards({
          uk: 895,
          europe: 2190,
          north_america: 2890,
          asia_pacific: 3190,
          rest_of_world: 4490,
        }),
      },
    ],
  };
}
