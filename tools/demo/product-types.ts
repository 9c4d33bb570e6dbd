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

/** The product types of the demo data, with packed weights and list prices. */
export const productTypes: readonly ProductType[] = [
  {
    product_type: 'vinyl_12_lp',
    title: '12-inch LP',
    title_suffix: '12″ LP',
    weight_grams: 520,
    lead_time_days: 10,
    royalty_rate: 1500,
    prices: { GBP: 2499, USD: 2999, EUR: 2899, JPY: 4800 },
    tracks: 10,
    sides: ['A', 'B'],
  },
  {
    product_type: 'cd_jewel',
    title: 'CD in a jewel case',
    title_suffix: 'CD',
    weight_grams: 140,
    lead_time_days: 4,
    royalty_rate: 2000,
    prices: { GBP: 1199, USD: 1399, EUR: 1299, JPY: 2000 },
    tracks: 11,
    sides: [],
  },
  {
    product_type: 'vinyl_7_single',
    title: '7-inch single',
    title_suffix: '7″ single',
    weight_grams: 160,
    lead_time_days: 8,
    royalty_rate: 1250,
    prices: { GBP: 1199, USD: 1399, EUR: 1299, JPY: 2200 },
    tracks: 2,
    sides: ['A', 'B'],
  },
  {
    product_type: 'cassette',
    title: 'Cassette',
    title_suffix: 'cassette',
    weight_grams: 120,
    lead_time_days: 7,
    royalty_rate: 1750,
    prices: { GBP: 999, USD: 1199, EUR: 1099, JPY: 1700 },
    tracks: 10,
    sides: ['A', 'B'],
  },
  {
    product_type: 'vinyl_12_2lp',
    title: 'Double 12-inch LP',
    title_suffix: '2 × 12″ LP',
    weight_grams: 820,
    lead_time_days: 12,
    royalty_rate: 1500,
    prices: { GBP: 3499, USD: 4199, EUR: 3999, JPY: 6800 },
    tracks: 16,
    sides: ['A', 'B', 'C', 'D'],
  },
  {
    product_type: 'cd_digisleeve',
    title: 'CD in a digisleeve',
    title_suffix: 'digisleeve CD',
    weight_grams: 90,
    lead_time_days: 4,
    royalty_rate: 2000,
    prices: { GBP: 999, USD: 1199, EUR: 1099, JPY: 1800 },
    tracks: 11,
    sides: [],
  },
];
