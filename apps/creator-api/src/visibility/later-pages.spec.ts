import { type Statement, statement, ReadDatabase, type Values } from '@fulfilment/database';
import {
  blocksRead,
  executedPlan,
  scratchDatabase,
  type ScratchDatabase,
} from '@fulfilment/database/testing';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { recordCreators } from '../creators/record-creators.js';
import { migrations } from '../migrations/index.js';
import { readPage as readExportPage } from '../orders/export/export-orders.js';
import { readPage as readStatementPage } from '../statements/statement-csv.js';
import { readLines } from '../statistics/ledger-lines/read-ledger-lines.js';
import { aMember } from './caller.fixture.js';
import { selectCreator } from './select-creator.js';
import { Visibility } from './visibility.js';

const count = 10_000;
const firstSecond = Date.parse('2026-03-01T00:00:00Z') / 1000;
// An order, and a ledger line, in each second.
const addOrders = statement(
  'test.add-orders',
  `INSERT INTO orders (id, creator_id, version, placed_at, currency, payment_status, dispatch_status, tracking_code, gross_amount,
     royalty_amount, item_count)
   SELECT gen_random_uuid(), $1, 1, to_timestamp(${firstSecond} + n), 'GBP', 'paid', 'unfulfilled', '', 1, 1, 1
   FROM generate_series(1, ${count}) n`,
);
const addLedgerLines = statement(
  'test.add-ledger-lines',
  `INSERT INTO ledger (item_id, kind, order_id, creator_id, occurred_at, period, release_id, ean, units, currency, revenue, vat, royalty,
     settlement_currency, settled_revenue, settled_vat, settled_royalty)
   SELECT gen_random_uuid(), 'sale', gen_random_uuid(), $1, to_timestamp(${firstSecond} + n), '2026-03', gen_random_uuid(), '', 1, 'GBP',
     1, 0, 1, 'GBP', 1, 0, 1
   FROM generate_series(1, ${count}) n`,
);
const analyse = statement('test.analyse', 'ANALYZE creators, orders, ledger');
/** Rows of the last page. */
const rows = 10;
/** Enough for an index and the rows of the last page; the pages before it have hundreds. */
const maxBlocks = 50;

describe('the last page of a long list of a member', () => {
  const creator = aCreator('org_harbour');
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    const { database } = scratch;
    await database.transaction((tx) => recordCreators(tx, [creator]));
    for (const add of [addOrders, addLedgerLines]) await database.run(add, [creator.id]);
    await database.run(analyse);
  });
  afterAll(() => scratch.drop());

  const micros = (second: number) => (firstSecond + second) * 1_000_000;
  const id = '00000000-0000-0000-0000-000000000000';
  const newestFirst = { creator: creator.id, micros: micros(rows + 1) };
  const range = { from: '2026-01-01', to: '2026-12-31' };
  const month = { currency: 'GBP', period: '2026-03', item: id, kind: 'sale', limit: 100 };
  it.each<[string, Statement, Values]>([
    ['an export of orders', readExportPage, { ...newestFirst, ...range, id, status: null, app: null }],
    [
      'the lines of the ledger',
      readLines,
      {
        ...newestFirst,
        ...month,
        release: null,
        product_type: null,
        country: null,
        platform: null,
        app: null,
      },
    ],
    [
      'the file of a statement',
      readStatementPage,
      [creator.id, '2026-03', 'GBP', micros(count - rows), 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'sale'],
    ],
  ])('of %s reads no rows of earlier pages', async (_list, page, values) => {
    const visibility = new Visibility(scratch.database, new ReadDatabase(scratch.database));
    const [root] = await visibility.snapshot(aMember, async (tx) => {
      await selectCreator(tx, creator.id);
      return executedPlan(tx, page, values);
    });
    expect(root?.['Actual Rows']).toBe(rows);
    expect(blocksRead(root)).toBeLessThan(maxBlocks);
  });
});
