import pg from 'pg';

/** Parses safe integers only. A larger bigint is a bug in this suite and must not be rounded. */
function readBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError('A bigint column contains a number that JavaScript cannot represent exactly.');
  return value;
}

/** Sets how pg parses columns in this process: bigint as a safe integer, date as `YYYY-MM-DD`. */
export function setColumnTypes(): void {
  pg.types.setTypeParser(pg.types.builtins.INT8, readBigint);
  pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);
}
