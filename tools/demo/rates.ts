const dayMs = 86_400_000;
const daysBefore = 90;
const daysAfter = 30;
/** What one euro is: invented, near what was usual in 2026. */
const perEuro = { USD: 1.1, JPY: 165, GBP: 0.86 } as const;

/** Reference rates around a day, in the form of the ECB's eurofxref-hist.csv: a suite left running for weeks still converts. */
export function demoRates(today: Date): string {
  const rows = Array.from({ length: daysBefore + 1 + daysAfter }, (_, index) => {
    const day = new Date(today.getTime() + (daysAfter - index) * dayMs);
    const wave = 1 + Math.sin(day.getTime() / dayMs / 9) / 100; // a percent up and down
    const rates = Object.values(perEuro).map((rate) => (rate * wave).toFixed(4));
    return [day.toISOString().slice(0, 10), ...rates, ''].join(',');
  });
  return [['Date', ...Object.keys(perEuro), ''].join(','), ...rows, ''].join('\n');
}
