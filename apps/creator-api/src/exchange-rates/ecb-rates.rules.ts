import { isCurrency } from '@fulfilment/contracts';
import { z } from 'zod';

/** The value of one euro in a currency on a day, as decimal text. */
interface EuroRate {
  readonly rate_date: string;
  readonly currency: string;
  readonly per_euro: string;
}

/** The file is not in a format of the European Central Bank, or is damaged. */
export class UnreadableRates extends Error {
  override readonly name = 'UnreadableRates';
}

const calendarDay = z.iso.date();
const months = 'January February March April May June July August September October November December'.split(
  ' ',
);

/**
 * Parses the ECB's euro foreign exchange reference rates of one or more days: eurofxref-daily.xml,
 * -hist-90d.xml, -hist.xml, eurofxref.csv and eurofxref-hist.csv. Returns only the currencies in which there
 * are prices, and the euro as 1.
 * @throws UnreadableRates
 */
export function parseEcbRates(text: string): EuroRate[] {
  const rates = (text.trimStart().startsWith('<') ? parseXml(text) : parseCsv(text)).filter(
    ({ currency, per_euro }) => isCurrency(currency) && per_euro !== 'N/A',
  );
  if (rates.length === 0) throw new UnreadableRates('The file contains no reference rates.');
  for (const { rate_date, currency, per_euro } of rates) {
    if (!/^\d{1,10}(\.\d{1,12})?$/.test(per_euro) || Number(per_euro) === 0)
      throw new UnreadableRates(`The rate of ${currency} on ${rate_date} is not a positive number.`);
  }
  const days = [...new Set(rates.map((rate) => rate.rate_date))];
  return [...rates, ...days.map((rate_date) => ({ rate_date, currency: 'EUR', per_euro: '1' }))];
}

/** Parses `<Cube time='2026-11-20'><Cube currency='USD' rate='1.0423'/>…`, with attributes in any order. */
function parseXml(text: string): EuroRate[] {
  const rates: EuroRate[] = [];
  let day: string | undefined;
  for (const [, attributes = ''] of text.matchAll(/<Cube\b([^<>]{0,200})>/g)) {
    const { time, currency, rate } = Object.fromEntries(
      [...attributes.matchAll(/(\w+)\s*=\s*['"]([^'"]*)['"]/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
    if (time !== undefined) day = parseDay(time);
    if (currency === undefined || rate === undefined) continue;
    if (day === undefined) throw new UnreadableRates('A rate occurs before its date.');
    rates.push({ rate_date: day, currency, per_euro: rate });
  }
  return rates;
}

/** Parses `Date, USD, JPY, …`, then a line per day. A day is `20 November 2026` or `2026-11-20`. */
function parseCsv(text: string): EuroRate[] {
  const [header = [], ...lines] = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(',').map((cell) => cell.trim()));
  if (header[0] !== 'Date')
    throw new UnreadableRates('The file is neither the XML nor the CSV format of the reference rates.');
  return lines.flatMap(([day = '', ...cells]) =>
    cells.flatMap((per_euro, index) => {
      const currency = header[index + 1];
      return currency === undefined || currency === '' || per_euro === ''
        ? []
        : [{ rate_date: parseDay(day), currency, per_euro }];
    }),
  );
}

function parseDay(text: string): string {
  const [, dayOfMonth = '', monthName = '', year = ''] = /^(\d{1,2}) (\w+) (\d{4})$/.exec(text) ?? [];
  const month = months.indexOf(monthName) + 1;
  const day = month === 0 ? text : `${year}-${String(month).padStart(2, '0')}-${dayOfMonth.padStart(2, '0')}`;
  if (!calendarDay.safeParse(day).success)
    throw new UnreadableRates(`${text.slice(0, 40)} is not a valid date.`);
  return day;
}
