import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { migrations } from '../migrations/index.js';
import { type StockOfOneProduct, stockOfOneProduct } from './stock.fixture.js';

interface Report {
  readonly kind: 'count' | 'adjust';
  readonly pieces: number;
  readonly at: string;
  readonly messageId: string;
  /** The step after which the event arrives. */
  readonly arrivesAt: number;
}

interface Sale {
  readonly orderId: string;
  readonly pieces: number;
  readonly at: string;
  /** Whether pieces were taken; false while the product is unlimited. */
  readonly limited: boolean;
  returnedAt?: string;
  /** Whether the order was cancelled before the product became a limited edition. */
  neverTaken?: boolean;
}

const delay = fc.integer({ min: 0, max: 6 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('sell' as const), pieces: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('adjust' as const),
      pieces: fc.integer({ min: -6, max: 6 }).filter((pieces) => pieces !== 0),
      delay,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('count' as const),
      pieces: fc.integer({ min: 0, max: 12 }),
      delay,
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Events of the shop and the warehouse, with the time of arrival of the warehouse's events. */
class History {
  readonly sales: Sale[] = [];
  readonly arrived: Report[] = [];
  private underWay: Report[] = [];
  private number = 0;

  constructor(private readonly product: StockOfOneProduct) {}

  async sell(pieces: number): Promise<void> {
    const at = await this.product.now();
    const sold = await this.product.sell(pieces);
    if (sold !== undefined) this.sales.push({ ...sold, pieces, at });
  }

  async cancel(which: number): Promise<void> {
    const open = this.sales.filter((sale) => sale.returnedAt === undefined);
    const sale = open[which % Math.max(1, open.length)];
    if (sale === undefined) return;
    sale.neverTaken = !sale.limited && !(await this.product.read()).limited;
    sale.returnedAt = await this.product.now();
    await this.product.cancel(sale.orderId);
  }

  async report(kind: Report['kind'], pieces: number, delayed: number): Promise<void> {
    const at = await this.product.now();
    this.underWay.push({ kind, pieces, at, messageId: randomUUID(), arrivesAt: this.number + delayed });
  }

  /** Delivers the due events, each twice. */
  async nextStep(everything = false): Promise<void> {
    const due = this.underWay.filter(({ arrivesAt }) => everything || arrivesAt <= this.number);
    this.underWay = this.underWay.filter((report) => !due.includes(report));
    for (const report of due.toSorted((one, other) => one.arrivesAt - other.arrivesAt))
      await this.deliver(report);
    this.number += 1;
    const { quantity, oversold } = await this.product.read();
    expect(quantity === null || quantity >= 0).toBe(true);
    expect(oversold >= 0 && (oversold === 0 || quantity === 0)).toBe(true);
  }

  private async deliver(report: Report): Promise<void> {
    const { kind, pieces, at, messageId } = report;
    for (let times = 0; times < 2; times += 1) {
      if (kind === 'count') await this.product.count(pieces, at);
      else await this.product.adjust(pieces, at, messageId);
    }
    this.arrived.push(report);
  }

  /** The expected balance, from the times of the events only. */
  balance(initial: number | null): number | undefined {
    const counts = this.arrived.filter(({ kind }) => kind === 'count');
    const newest = counts.toSorted((one, other) => (one.at < other.at ? 1 : -1))[0];
    const from = newest?.at ?? '';
    const counted = newest?.pieces ?? initial;
    if (counted === null) return undefined;
    const isAfter = (at: string | undefined): boolean => at !== undefined && at > from;
    const adjusted = this.arrived.filter(({ kind, at }) => kind === 'adjust' && isAfter(at));
    const taken = this.sales.filter(({ at, neverTaken }) => neverTaken !== true && isAfter(at));
    const returned = this.sales.filter(
      ({ at, returnedAt, neverTaken, limited }) =>
        neverTaken !== true && isAfter(returnedAt) && (limited || this.wasTakenLater(at)),
    );
    return counted + total(adjusted) - total(taken) + total(returned);
  }

  /**
   * An order of a product that was unlimited takes pieces when the first count arrives that is older than the
   * order.
   */
  private wasTakenLater(at: string): boolean {
    const first = this.arrived.find(({ kind }) => kind === 'count');
    return first !== undefined && at > first.at;
  }
}

function total(entries: readonly { readonly pieces: number }[]): number {
  return entries.reduce((sum, { pieces }) => sum + pieces, 0);
}

describe('sales, returns, counts and adjustments in any order of arrival', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
  });
  afterAll(() => scratch.drop());

  const runs = Number(process.env['STOCK_PROPERTY_RUNS'] ?? 60);
  const live = async (
    history: History,
    steps: readonly Step[],
    adjustAtOnce: (pieces: number) => boolean,
  ) => {
    for (const one of steps) {
      if (one.kind === 'sell') await history.sell(one.pieces);
      else if (one.kind === 'cancel') await history.cancel(one.which);
      else if (one.kind === 'adjust')
        await history.report('adjust', one.pieces, adjustAtOnce(one.pieces) ? 0 : one.delay);
      else await history.report('count', one.pieces, one.delay);
      await history.nextStep();
    }
    await history.nextStep(true);
  };

  it('never make the stock negative, and result in the number that follows from their times', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 16 }),
        fc.option(fc.integer({ min: 0, max: 10 })),
        async (steps, initial) => {
          const product = await stockOfOneProduct(scratch.database, initial);
          const history = new History(product);
          await live(history, steps, () => false);
          const { quantity, oversold } = await product.read();
          expect(quantity === null ? undefined : quantity - oversold).toBe(history.balance(initial));
        },
      ),
      { numRuns: runs },
    );
  }, 300_000);

  it('never oversell while counts are correct and losses are reported at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 16 }),
        fc.integer({ min: 0, max: 10 }),
        async (steps, initial) => {
          const product = await stockOfOneProduct(scratch.database, initial);
          const history = new History(product);
          let adjusted = 0;
          const left = () =>
            initial + adjusted - total(history.sales.filter((sale) => sale.returnedAt === undefined));
          for (const one of steps) {
            if (one.kind === 'sell') await history.sell(one.pieces);
            else if (one.kind === 'cancel') await history.cancel(one.which);
            else if (one.kind === 'count') await history.report('count', left(), one.delay);
            else {
              const pieces = Math.max(one.pieces, -left()); // at most the existing pieces are lost
              if (pieces !== 0) await history.report('adjust', pieces, pieces < 0 ? 0 : one.delay);
              adjusted += pieces;
            }
            await history.nextStep();
            expect(left()).toBeGreaterThanOrEqual(0);
            expect((await product.read()).quantity).toBeLessThanOrEqual(left());
          }
          await history.nextStep(true);
          expect(await product.read()).toMatchObject({ quantity: left(), oversold: 0 });
        },
      ),
      { numRuns: runs },
    );
  }, 300_000);
});
