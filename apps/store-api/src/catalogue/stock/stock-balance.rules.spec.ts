import { balanceAfterCount, stockLevelOf } from './stock-balance.rules.js';

describe('the balance of a limited edition', () => {
  it.each([
    [3, { quantity: 3, oversold: 0 }],
    [0, { quantity: 0, oversold: 0 }],
    [-2, { quantity: 0, oversold: 2 }],
  ])('%d is stored as the stock %j', (balance, stock) => {
    expect(stockLevelOf(balance)).toEqual(stock);
  });

  it('becomes the balance of a later stock count, higher or lower', () => {
    const before = { quantity: 5, oversold: 0, countedAtSameTime: false };
    expect([balanceAfterCount(9, before), balanceAfterCount(-1, before)]).toEqual([9, -1]);
  });

  it('becomes the lower balance of two stock counts with the same time', () => {
    expect(balanceAfterCount(9, { quantity: 5, oversold: 0, countedAtSameTime: true })).toBe(5);
    expect(balanceAfterCount(-1, { quantity: 5, oversold: 0, countedAtSameTime: true })).toBe(-1);
    expect(balanceAfterCount(9, { quantity: 0, oversold: 2, countedAtSameTime: true })).toBe(-2);
  });
});
