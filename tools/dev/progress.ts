/** Prints a line to the terminal, or sends it to the terminal of `npm start -- --detach`. */
export type Say = (line: string) => void;

/** Prints the steps of a long command with their durations. */
export class Progress {
  private readonly startedAt = Date.now();
  private readonly say: Say;

  constructor(say: Say) {
    this.say = say;
  }

  async step<T>(title: string, work: (note: Say) => Promise<T>): Promise<T> {
    const startedAt = Date.now();
    const reminder = setInterval(() => this.say(`  … ${title} (${seconds(startedAt)})`), 10_000);
    try {
      const result = await work((note) => this.say(`    ${note}`));
      this.say(`  ✓ ${title.padEnd(44)} ${seconds(startedAt).padStart(7)}   at ${seconds(this.startedAt)}`);
      return result;
    } catch (error) {
      this.say(`  ✗ ${title.padEnd(44)} ${seconds(startedAt).padStart(7)}`);
      throw error;
    } finally {
      clearInterval(reminder);
    }
  }

  get elapsed(): string {
    return seconds(this.startedAt);
  }
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
