/** Prints a line to the terminal, or sends it to the terminal of `npm start -- --detach`. */
export type Say = (line: string) => void;

/** Prints a line to the terminal. */
export const say: Say = (line) => console.log(line);

const reminderIntervalMs = 10_000;
/** Widths of the columns. */
const [titleColumns, durationColumns] = [44, 7];

/** Prints the steps of a long command with their durations. Reminds of a step that takes long. */
export class Progress {
  private readonly startedAtMs = Date.now();
  private readonly say: Say;

  constructor(print: Say = say) {
    this.say = print;
  }

  async step<T>(title: string, work: (note: Say) => Promise<T>): Promise<T> {
    const startedAtMs = Date.now();
    const reminder = setInterval(
      () => this.say(`  … ${title} (${secondsSince(startedAtMs)})`),
      reminderIntervalMs,
    );
    try {
      const result = await work((note) => this.say(`    ${note}`));
      this.say(`  ✓ ${lineOf(title, startedAtMs)}   at ${this.elapsed}`);
      return result;
    } catch (error) {
      this.say(`  ✗ ${lineOf(title, startedAtMs)}`);
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

function secondsSince(startMs: number): string {
  return `${((Date.now() - startMs) / 1000).toFixed(1)} s`;
}
