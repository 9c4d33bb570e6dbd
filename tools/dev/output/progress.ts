/** Prints a line to the terminal, or sends it to the terminal of `npm start -- --detach`. */
export type PrintLine = (line: string) => void;

/** Prints a line to the terminal. */
export const say: PrintLine = (line) => console.log(line);

const reminderIntervalMs = 10_000;
/** Widths of the columns. */
const [titleColumns, durationColumns] = [44, 7];

/** Prints each step of a long command with its duration, and every 10 s that it still runs. */
export class Progress {
  private readonly startedAtMs = performance.now();
  private readonly print: PrintLine;

  constructor(print: PrintLine = say) {
    this.print = print;
  }

  async step<T>(title: string, work: (note: PrintLine) => Promise<T>): Promise<T> {
    const startedAtMs = performance.now();
    const reminder = setInterval(
      () => this.print(`  … ${title} (${secondsSince(startedAtMs)})`),
      reminderIntervalMs,
    );
    try {
      const result = await work((note) => this.print(`    ${note}`));
      this.print(`  ✓ ${lineOf(title, startedAtMs)}   at ${this.elapsed}`);
      return result;
    } catch (error) {
      this.print(`  ✗ ${lineOf(title, startedAtMs)}`);
      throw error;
    } finally {
      clearInterval(reminder);
    }
  }

  /** Time since the command began, as text. */
  get elapsed(): string {
    return secondsSince(this.startedAtMs);
  }
}

function lineOf(title: string, startedAtMs: number): string {
  return `${title.padEnd(titleColumns)} ${secondsSince(startedAtMs).padStart(durationColumns)}`;
}

/** @param startedAtMs of the clock of `performance.now` */
export function secondsSince(startedAtMs: number): string {
  return `${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`;
}
