export const productTypes = [
  {
    product_type: 'vinyl_12_lp',
    title: '12" LP',
    weight_grams: 520,
    lead_time_days: 10,
    royalty_rate: 1500,
    prices: { GBP: 2499, USD: 2999, EUR: 2899, JPY: 4800 },
  },
  {
    product_type: 'vinyl_7_single',
    title: '7" single',
    weight_grams: 160,
    lead_time_days: 8,
    royalty_rate: 1250,
    prices: { GBP: 1199, USD: 1399, EUR: 1299, JPY: 2200 },
  },
];
