export interface ProductType {
  readonly product_type: string;
  readonly title: string;
  /** Follows the name of the release in the title of a product, in parentheses. */
  readonly title_suffix: string;
  readonly weight_grams: number;
  readonly lead_time_days: number;
  /** Basis points. */
  readonly royalty_rate: number;
  /** Minor units; yen have none. */
  readonly prices: { readonly GBP: number; readonly USD: number; readonly EUR: number; readonly JPY: number };
  readonly tracks: number;
  readonly sides: readonly string[];
}

/** Type, title, title suffix, grams, days, basis points, prices in GBP, USD, EUR and JPY, tracks, sides. */
const formats = [
  ['vinyl_12_lp', '12-inch LP', '12″ LP', 520, 10, 1500, [2499, 2999, 2899, 4800], 10, 'AB'],
  ['cd_jewel', 'CD in a jewel case', 'CD', 140, 4, 2000, [1199, 1399, 1299, 2000], 11, ''],
  ['vinyl_7_single', '7-inch single', '7″ single', 160, 8, 1250, [1199, 1399, 1299, 2200], 2, 'AB'],
  ['cassette', 'Cassette', 'cassette', 120, 7, 1750, [999, 1199, 1099, 1700], 10, 'AB'],
  ['vinyl_12_2lp', 'Double 12-inch LP', '2 × 12″ LP', 820, 12, 1500, [3499, 4199, 3999, 6800], 16, 'ABCD'],
  ['cd_digisleeve', 'CD in a digisleeve', 'digisleeve CD', 90, 4, 2000, [999, 1199, 1099, 1800], 11, ''],
] as const;

/** The product types of the demo data, with packed weights and list prices. */
export const productTypes: readonly ProductType[] = formats.map(
  ([
    product_type,
    title,
    title_suffix,
    weight_grams,
    lead_time_days,
    royalty_rate,
    prices,
    tracks,
    sides,
  ]) => {
    const [GBP, USD, EUR, JPY] = prices;
    const terms = { weight_grams, lead_time_days, royalty_rate, prices: { GBP, USD, EUR, JPY } };
    return { product_type, title, title_suffix, ...terms, tracks, sides: [...sides] };
  },
);
