/** Runs at most `max` pieces of work at the same time; the others wait in order. */
export class Limit {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly max: number) {}

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    // When work ends, it hands its slot over to the first waiting work.
    if (this.running < this.max) this.running += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
