import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { setUpDatabase } from '../../test/scratch.fixture.js';
import { type StockOfOneProduct, stockOfOneProduct } from './stock.fixture.js';

interface WarehouseEvent {
  readonly kind: 'count' | 'adjust';
  readonly pieces: number;
  readonly occurredAt: string;
  readonly messageId: string;
  /** Number of the step after which the event arrives. */
  readonly arrivesAfterStep: number;
}

interface Sale {
  readonly orderId: string;
  readonly pieces: number;
  readonly soldAt: string;
  /** Whether pieces were taken; false while the product is unlimited. */
  readonly limited: boolean;
  returnedAt?: string;
  /** Whether the order was cancelled before the product became a limited edition. */
  neverTaken?: boolean;
}

const delaySteps = fc.integer({ min: 0, max: 6 });
const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('sell' as const), pieces: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), saleIndex: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('adjust' as const),
      pieces: fc.integer({ min: -6, max: 6 }).filter((pieces) => pieces !== 0),
      delaySteps,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('count' as const),
      pieces: fc.integer({ min: 0, max: 12 }),
      delaySteps,
    }),
  },
);
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

/** Sales, and events of the warehouse, which arrive later than they occur. */
class History {
  readonly sales: Sale[] = [];
  readonly arrived: WarehouseEvent[] = [];
  private underWay: WarehouseEvent[] = [];
  private stepNumber = 0;

  constructor(private readonly product: StockOfOneProduct) {}

  async sell(pieces: number): Promise<void> {
    const soldAt = await this.product.now();
    const sold = await this.product.sell(pieces);
    if (sold !== undefined) this.sales.push({ ...sold, pieces, soldAt });
  }

  /** Cancels one of the open sales, if there are any. */
  async cancel(saleIndex: number): Promise<void> {
    const open = this.sales.filter((sale) => sale.returnedAt === undefined);
    const sale = open[saleIndex % open.length];
    if (sale === undefined) return;
    sale.neverTaken = !sale.limited && !(await this.product.read()).limited;
    sale.returnedAt = await this.product.now();
    await this.product.cancel(sale.orderId);
  }

  /** Adds an event that occurs now and arrives later. */
  async report(kind: WarehouseEvent['kind'], pieces: number, delaySteps: number): Promise<void> {
    const occurredAt = await this.product.now();
    const arrivesAfterStep = this.stepNumber + delaySteps;
    this.underWay.push({ kind, pieces, occurredAt, messageId: randomUUID(), arrivesAfterStep });
  }

  /** Ends a step: delivers the events that are due. */
  async endStep(): Promise<void> {
    await this.deliverAndCheck(
      this.underWay.filter(({ arrivesAfterStep }) => arrivesAfterStep <= this.stepNumber),
    );
    this.stepNumber += 1;
  }

  async deliverAll(): Promise<void> {
    await this.deliverAndCheck(this.underWay);
  }

  /** Delivers each event twice, and expects a stock that is possible. */
  private async deliverAndCheck(events: readonly WarehouseEvent[]): Promise<void> {
    this.underWay = this.underWay.filter((event) => !events.includes(event));
    for (const event of events.toSorted((one, other) => one.arrivesAfterStep - other.arrivesAfterStep)) {
      const { kind, pieces, occurredAt, messageId } = event;
      for (let times = 0; times < 2; times += 1) {
        if (kind === 'count') await this.product.count(pieces, occurredAt);
        else await this.product.adjust(pieces, occurredAt, messageId);
      }
      this.arrived.push(event);
    }
    const { quantity, oversold } = await this.product.read();
    expect(quantity === null || quantity >= 0).toBe(true);
    expect(oversold >= 0 && (oversold === 0 || quantity === 0)).toBe(true);
  }

  /** Returns the balance that follows from the times of the events; undefined for an unlimited product. */
  expectedBalance(initial: number | null): number | undefined {
    const counts = this.arrived.filter(({ kind }) => kind === 'count');
    const newest = counts.toSorted((one, other) => (one.occurredAt < other.occurredAt ? 1 : -1))[0];
    const countedAt = newest?.occurredAt ?? '';
    const counted = newest?.pieces ?? initial;
    if (counted === null) return undefined;
    const isAfter = (time: string | undefined): boolean => time !== undefined && time > countedAt;
    const adjusted = this.arrived.filter(({ kind, occurredAt }) => kind === 'adjust' && isAfter(occurredAt));
    const taken = this.sales.filter(({ soldAt, neverTaken }) => neverTaken !== true && isAfter(soldAt));
    const returned = this.sales.filter(
      ({ soldAt, returnedAt, neverTaken, limited }) =>
        neverTaken !== true && isAfter(returnedAt) && (limited || this.wasTakenLater(soldAt)),
    );
    return counted + total(adjusted) - total(taken) + total(returned);
  }

  /**
   * Whether an order that was placed while the product was unlimited takes its pieces later: it does so when
   * the first count arrives, if the order is newer than that count.
   */
  private wasTakenLater(soldAt: string): boolean {
    const first = this.arrived.find(({ kind }) => kind === 'count');
    return first !== undefined && soldAt > first.occurredAt;
  }
}

function total(entries: readonly { readonly pieces: number }[]): number {
  return entries.reduce((sum, { pieces }) => sum + pieces, 0);
}

describe('sales, returns, counts and adjustments in any order of arrival', () => {
  const scratch = setUpDatabase();

  // STOCK_PROPERTY_RUNS is for a manual run with more cases.
  const numRuns = Number(process.env['STOCK_PROPERTY_RUNS'] ?? 60);
  const run = async (history: History, steps: readonly Step[]) => {
    for (const step of steps) {
      if (step.kind === 'sell') await history.sell(step.pieces);
      else if (step.kind === 'cancel') await history.cancel(step.saleIndex);
      else await history.report(step.kind, step.pieces, step.delaySteps);
      await history.endStep();
    }
    await history.deliverAll();
  };

  it('never make the stock negative, and result in the number that follows from their times', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 1, maxLength: 16 }),
        fc.option(fc.integer({ min: 0, max: 10 })),
        async (steps, initial) => {
          const product = await stockOfOneProduct(scratch.database, initial);
          const history = new History(product);
          await run(history, steps);
          const { quantity, oversold } = await product.read();
          expect(quantity === null ? undefined : quantity - oversold).toBe(history.expectedBalance(initial));
        },
      ),
      { numRuns },
    );
  }, 300_000); // milliseconds for all runs

  it('never oversell while counts are correct and losses are reported at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 1, maxLength: 16 }),
        fc.integer({ min: 0, max: 10 }),
        async (steps, initial) => {
          const product = await stockOfOneProduct(scratch.database, initial);
          const history = new History(product);
          let adjusted = 0;
          const left = () =>
            initial + adjusted - total(history.sales.filter((sale) => sale.returnedAt === undefined));
          for (const step of steps) {
            if (step.kind === 'sell') await history.sell(step.pieces);
            else if (step.kind === 'cancel') await history.cancel(step.saleIndex);
            else if (step.kind === 'count') await history.report('count', left(), step.delaySteps);
            else {
              const pieces = Math.max(step.pieces, -left()); // at most the existing pieces are lost
              if (pieces !== 0) await history.report('adjust', pieces, pieces < 0 ? 0 : step.delaySteps);
              adjusted += pieces;
            }
            await history.endStep();
            expect(left()).toBeGreaterThanOrEqual(0);
            expect((await product.read()).quantity).toBeLessThanOrEqual(left());
          }
          await history.deliverAll();
          expect(await product.read()).toMatchObject({ quantity: left(), oversold: 0 });
        },
      ),
      { numRuns },
    );
  }, 300_000); // milliseconds for all runs
});
