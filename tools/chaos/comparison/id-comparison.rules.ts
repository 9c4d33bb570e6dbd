import { alignColumns } from '../../dev/output/align-columns.ts';

/** How often each id was found. */
export type Found = ReadonlyMap<string, number>;

export interface ComparedSum {
  readonly name: string;
  readonly expected: number;
  readonly found: number;
}

export type SetDifference = ReturnType<typeof compareSet>;

export interface Comparison {
  readonly sets: readonly SetDifference[];
  readonly sums: readonly ComparedSum[];
}

export function countIds(ids: Iterable<string>): Found {
  const found = new Map<string, number>();
  for (const id of ids) found.set(id, (found.get(id) ?? 0) + 1);
  return found;
}

/** Compares the ids of rows, messages or deliveries with the expected ids, each of which must exist once. */
export function compareSet(
  name: string,
  expected: ReadonlySet<string>,
  found: Found,
  mayBeDoubled: (id: string) => boolean = () => false,
) {
  return {
    name,
    expected: expected.size,
    found: [...found.values()].reduce((sum, count) => sum + count, 0),
    missing: [...expected].filter((id) => !found.has(id)),
    /** Found, but not expected. */
    unexpected: [...found.keys()].filter((id) => !expected.has(id)),
    doubled: [...found].filter(([id, count]) => count > 1 && !mayBeDoubled(id)).map(([id]) => id),
  };
}

function isSame({ missing, unexpected, doubled }: SetDifference): boolean {
  return missing.length + unexpected.length + doubled.length === 0;
}

/** Returns the name of each set and sum that differs, with examples. */
export function describeDifferences({ sets, sums }: Comparison): string[] {
  return [
    ...sets
      .filter((set) => !isSame(set))
      .map(({ name, missing, unexpected, doubled }) => {
        const examples = [...missing, ...unexpected, ...doubled].slice(0, 3);
        return `${name}: ${examples.join(', ')}`;
      }),
    ...sums.filter(({ expected, found }) => expected !== found).map(({ name }) => name),
  ];
}

/** Returns the lines of the table that a run prints at its end. */
export function formatComparison({ sets, sums }: Comparison): string[] {
  const heads = ['', 'expected', 'found', 'missing', 'unexpected', 'doubled', ''];
  const isNumber = (column: number): boolean => heads[column] !== '';
  const rows = [
    heads,
    ...sets.map((set) => [
      set.name,
      String(set.expected),
      String(set.found),
      String(set.missing.length),
      String(set.unexpected.length),
      String(set.doubled.length),
      isSame(set) ? 'same' : 'DIFFERENT',
    ]),
    ...sums.map(({ name, expected, found }) => [
      name,
      String(expected),
      String(found),
      String(Math.max(0, expected - found)),
      String(Math.max(0, found - expected)),
      '',
      expected === found ? 'same' : 'DIFFERENT',
    ]),
  ];
  return alignColumns(rows, isNumber);
}
