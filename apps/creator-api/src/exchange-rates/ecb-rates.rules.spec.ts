import { parseEcbRates } from './ecb-rates.rules.js';

const daily = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
  <gesmes:subject>Reference rates</gesmes:subject>
  <Cube><Cube time='2026-03-10'>
    <Cube currency='USD' rate='1.0423'/>
    <Cube currency='JPY' rate='162.43'/>
    <Cube currency='CZK' rate='24.9'/>
    <Cube currency='GBP' rate='0.83450'/>
  </Cube></Cube>
</gesmes:Envelope>`;

/** The supported currencies of `daily` and of the CSV files below, and the euro. */
const expected = [
  { rate_date: '2026-03-10', currency: 'USD', per_euro: '1.0423' },
  { rate_date: '2026-03-10', currency: 'JPY', per_euro: '162.43' },
  { rate_date: '2026-03-10', currency: 'GBP', per_euro: '0.83450' },
  { rate_date: '2026-03-10', currency: 'EUR', per_euro: '1' },
];

describe('parseEcbRates', () => {
  it('reads the supported currencies of eurofxref-daily.xml, and adds the euro', () => {
    expect(parseEcbRates(daily)).toEqual(expected);
  });

  it.each([
    ['eurofxref.csv', 'Date, USD, JPY, CZK, GBP, \n10 March 2026, 1.0423, 162.43, 24.9, 0.83450, \n'],
    ['eurofxref-hist.csv', 'Date,USD,JPY,CZK,GBP,\r\n2026-03-10,1.0423,162.43,N/A,0.83450,\r\n'],
  ])('reads the same rates from %s', (_name, text) => {
    expect(parseEcbRates(text)).toEqual(expected);
  });

  it.each([
    ['an empty file', '', /neither/],
    ['a CSV file of another format', 'id;name\n1;2', /neither/],
    ['XML without rates', '<rss></rss>', /no reference rates/],
    ['an impossible day', daily.replace('2026-03-10', '2026-02-30'), /is not a valid date/],
    ['a rate of zero', daily.replace('1.0423', '0.0'), /USD on 2026-03-10/],
    ['a rate that is not a number', daily.replace('1.0423', '1,04'), /USD on 2026-03-10/],
  ])('rejects %s', (_what, text, message) => {
    expect(() => parseEcbRates(text)).toThrow(message);
  });
});
