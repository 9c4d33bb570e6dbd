/** A measured value, or the ratio of two. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** `x` is a ratio. */
  readonly unit: 'x' | '/s' | 'µs' | 'ms' | 'MB' | 's' | 'rows/s' | 'statements';
  /** Minimum and maximum of the rounds. */
  readonly spread?: readonly [number, number];
  readonly target?: Target;
}

export type Target = { readonly atLeast: number } | { readonly atMost: number };

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [upper = Number.NaN, lower = upper] = [sorted[middle], sorted[middle - 1]];
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}

/** Returns the median of the rounds with their spread. */
export function figure(
  name: string,
  rounds: readonly number[],
  unit: Figure['unit'],
  target?: Target,
): Figure {
  return {
    name,
    value: median(rounds),
    unit,
    spread: [Math.min(...rounds), Math.max(...rounds)],
    ...(target === undefined ? {} : { target }),
  };
}

export function isMet({ value, target }: Figure): boolean {
  if (target === undefined) return true;
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

/** Formats a table with name, value, spread, target and verdict. */
export function formatTable(figures: readonly Figure[]): string[] {
  const width = Math.max(...figures.map(({ name }) => name.length));
  return figures.map((one) => {
    const { name, value, unit, spread, target } = one;
    const range = spread === undefined ? '' : `(${round(spread[0])} to ${round(spread[1])})`;
    const verdict = target === undefined ? '' : `${isMet(one) ? '✓' : '✗'} ${inWords(target)}`;
    return `  ${name.padEnd(width)}  ${round(value).padStart(8)} ${unit.padEnd(11)} ${range.padEnd(22)} ${verdict}`.trimEnd();
  });
}

function inWords(target: Target): string {
  return 'atLeast' in target ? `at least ${inShort(target.atLeast)}` : `at most ${inShort(target.atMost)}`;
}

/** Formats a bound with three digits: 0.667 for two thirds. */
function inShort(bound: number): string {
  return String(Number(bound.toPrecision(3)));
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
