import { convert } from './convert-currency.rules.js';

const rate = (from: string, to: string) => ({ from, to });

describe('convert', () => {
  it.each([
    // 4800 / 162.43 × 0.8345 = £24.6605.
    ['whole yen to pence', 4800n, 'JPY', 'GBP', rate('162.43', '0.8345'), 2466n],
    // 24.99 / 0.8345 × 162.43 = ¥4864.14.
    ['pence to whole yen', 2499n, 'GBP', 'JPY', rate('0.8345', '162.43'), 4864n],
    ['cents to cents', 1000n, 'USD', 'EUR', rate('1.25', '1'), 800n],
    ['a half to the even cent', 25n, 'USD', 'EUR', rate('2', '1'), 12n], // 12.5
    ['the next half to the even cent', 27n, 'USD', 'EUR', rate('2', '1'), 14n], // 13.5
    ['a refund like its sale', -27n, 'USD', 'EUR', rate('2', '1'), -14n],
    ['the largest amount exactly', 9007199254740991n, 'GBP', 'USD', rate('0.5', '1'), 18014398509481982n],
  ] as const)('converts %s', (_what, amount, from, to, given, expected) => {
    expect(convert(amount, from, to, given)).toBe(expected);
  });
});
