import { z } from 'zod';

const targetSchema = z.union([z.object({ atLeast: z.number() }), z.object({ atMost: z.number() })]);
export const figureSchema = z.object({
  name: z.string(),
  value: z.number(),
  /** `x` is a ratio. */
  unit: z.enum(['x', '/s', 'µs', 'ms', 'MB', 's', 'rows/s', 'statements', 'pages']),
  /** The value of each round; `value` is their median. */
  rounds: z.array(z.number()).readonly().optional(),
  target: targetSchema.optional(),
});

/** A measured value, or the ratio of two. */
export type Figure = Readonly<z.output<typeof figureSchema>>;
export type Target = z.output<typeof targetSchema>;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns a figure whose value is the median of the rounds. */
export function figure(
  name: string,
  rounds: readonly number[],
  unit: Figure['unit'],
  target?: Target,
): Figure {
  return { name, value: median(rounds), unit, rounds, ...(target === undefined ? {} : { target }) };
}

export function isMet({ value, target }: Figure): boolean {
  if (target === undefined) return true;
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

/** Widths of the columns with the unit and with the spread of the rounds. */
const [unitColumns, spreadColumns] = [11, 22];

/** Formats a table with name, value, spread, target, and whether the target was met. */
export function formatTable(figures: readonly Figure[]): string[] {
  const width = Math.max(...figures.map(({ name }) => name.length));
  return figures.map((measured) => {
    const { name, value, unit, target } = measured;
    const spread = spreadOf(measured);
    const spreadText = spread === undefined ? '' : `(${spread})`;
    const targetText = target === undefined ? '' : `${isMet(measured) ? '✓' : '✗'} ${describeTarget(target)}`;
    return `  ${name.padEnd(width)}  ${formatValue(value).padStart(8)} ${unit.padEnd(unitColumns)} ${spreadText.padEnd(spreadColumns)} ${targetText}`.trimEnd();
  });
}

/** Formats the minimum and maximum of the rounds. */
export function spreadOf({ rounds }: Figure): string | undefined {
  return rounds && `${formatValue(Math.min(...rounds))} to ${formatValue(Math.max(...rounds))}`;
}

export function describeTarget(target: Target): string {
  return 'atLeast' in target
    ? `at least ${formatBound(target.atLeast)}`
    : `at most ${formatBound(target.atMost)}`;
}

/** Formats a bound with three digits: 0.667 for two thirds. */
function formatBound(bound: number): string {
  return String(Number(bound.toPrecision(3)));
}

export function formatValue(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
