/** Prints a line to the terminal, or sends it to the terminal of `npm start -- --detach`. */
export type Say = (line: string) => void;

const reminderIntervalMs = 10_000;

/** Prints the steps of a long command with their durations. Reminds of a step that takes long. */
export class Progress {
  private readonly startedAtMs = Date.now();
  private readonly say: Say;

  constructor(say: Say) {
    this.say = say;
  }

  async step<T>(title: string, work: (note: Say) => Promise<T>): Promise<T> {
    const startedAtMs = Date.now();
    const reminder = setInterval(
      () => this.say(`  … ${title} (${secondsSince(startedAtMs)})`),
      reminderIntervalMs,
    );
    try {
      const result = await work((note) => this.say(`    ${note}`));
      this.say(`  ✓ ${title.padEnd(44)} ${secondsSince(startedAtMs).padStart(7)}   at ${this.elapsed}`);
      return result;
    } catch (error) {
      this.say(`  ✗ ${title.padEnd(44)} ${secondsSince(startedAtMs).padStart(7)}`);
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

function secondsSince(startMs: number): string {
  return `${((Date.now() - startMs) / 1000).toFixed(1)} s`;
}
