import { Failure } from '../dev/failure.ts';
import { secondsSince } from '../dev/output/progress.ts';

/** Widths of the columns with the title and the result of a step. */
const [titleColumns, resultColumns] = [34, 54];

/** Prints each step with its result and duration. */
export class Steps {
  private count = 0;
  private readonly startedAtMs = performance.now();

  /** Runs a step. @param work calls `note` with the result to print */
  async run<Result>(title: string, work: (note: (text: string) => void) => Promise<Result>): Promise<Result> {
    this.count += 1;
    const label = `${String(this.count).padStart(2)}  ${title.padEnd(titleColumns)}`;
    const startedAtMs = performance.now();
    let shown = '';
    try {
      const result = await work((text) => (shown = text));
      console.log(
        `${label}${shown.padEnd(resultColumns)}${(performance.now() - startedAtMs).toFixed(0).padStart(5)} ms`,
      );
      return result;
    } catch (error) {
      console.log(`${label}failed`);
      throw error;
    }
  }

  done(): void {
    console.log(`\nAll ${this.count} steps as expected, in ${secondsSince(this.startedAtMs)}.`);
  }
}

/** @throws Failure if the values differ */
export function expectEqual(subject: string, actual: unknown, expected: unknown): void {
  if (actual === expected) return;
  throw new Failure(
    `Expected ${subject} to be ${JSON.stringify(expected)}, but it is ${JSON.stringify(actual)}.`,
  );
}
