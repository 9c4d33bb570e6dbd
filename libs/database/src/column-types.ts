import pg from 'pg';

/** Exact integers only: a bigint that JavaScript cannot hold is a fault of ours, not something to round. */
function readBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError('A bigint column holds a number that is not exact in JavaScript.');
  return value;
}

/** How columns become JavaScript values: bigint a safe integer, date `YYYY-MM-DD`, timestamptz a Date. Process-wide in pg. */
export function setColumnTypes(): void {
  pg.types.setTypeParser(pg.types.builtins.INT8, readBigint);
  pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);
}
