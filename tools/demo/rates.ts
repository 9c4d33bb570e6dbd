const dayMs = 86_400_000;
const daysBefore = 90;
const daysAfter = 30;
/** Invented values of one euro, close to those of 2026. */
const perEuro = { USD: 1.1, JPY: 165, GBP: 0.86 } as const;

/**
 * Returns reference rates in the format of eurofxref-hist.csv, from 90 days before `today` to 30 days after
 * it, so that a suite that runs for weeks still has rates. The rates of a date do not depend on `today`.
 */
export function demoRates(today: Date): string {
  const rows = Array.from({ length: daysBefore + 1 + daysAfter }, (_, index) => {
    const daysSinceEpoch = Math.floor(today.getTime() / dayMs) + daysAfter - index;
    const wave = 1 + Math.sin(daysSinceEpoch / 9) / 100; // varies by one percent
    const rates = Object.values(perEuro).map((rate) => (rate * wave).toFixed(4));
    return [new Date(daysSinceEpoch * dayMs).toISOString().slice(0, 10), ...rates, ''].join(',');
  });
  return [['Date', ...Object.keys(perEuro), ''].join(','), ...rows, ''].join('\n');
}
