import countries from 'i18n-iso-countries';
import { demoShipping } from './shipping.ts';

const currencies = ['GBP', 'USD', 'EUR', 'JPY'];
const { zones, services } = demoShipping();
const places = Object.entries(zones).flatMap(([zone, codes]) => codes.map((code) => ({ zone, code })));
const cards = services.flatMap(({ name, rate_cards }) => rate_cards.map((card) => ({ ...card, name })));

describe('the shipping of the demo data', () => {
  it('has every country of ISO 3166-1 in one zone', () => {
    const codes = places.map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    const { XK: _userAssigned, ...assigned } = countries.getAlpha2Codes();
    expect(codes.sort()).toEqual(Object.keys(assigned).sort());
  });

  it.each(currencies)('has a price to every country in %s', (currency) => {
    const reached = new Set(cards.filter((card) => card.currency === currency).map(({ zone }) => zone));
    expect(places.filter(({ zone }) => !reached.has(zone))).toEqual([]);
  });

  it('prices each service and zone in all four currencies, for the same weights', () => {
    const bandWeights = (name: string, zone: string) =>
      cards
        .filter((card) => card.name === name && card.zone === zone)
        .map(({ currency, bands }) => [currency, bands.map((band) => band.max_weight_grams)]);
    for (const { name, zone } of cards)
      expect(bandWeights(name, zone)).toEqual(
        currencies.map((currency) => [currency, [250, 500, 1000, 2000, 5000, 10_000]]),
      );
  });

  it('has higher prices for more weight, in whole minor units, and multiples of ten for yen', () => {
    for (const { currency, bands } of cards) {
      const amounts = bands.flatMap((band) => [band.amount, band.extra_500g_amount]);
      expect(amounts.every((amount) => Number.isSafeInteger(amount) && amount > 0)).toBe(true);
      if (currency === 'JPY') expect(amounts.filter((amount) => amount % 10 !== 0)).toEqual([]);
      const prices = bands.map((band) => band.amount);
      expect(prices).toEqual([...new Set(prices)].sort((one, other) => one - other));
    }
  });
});
