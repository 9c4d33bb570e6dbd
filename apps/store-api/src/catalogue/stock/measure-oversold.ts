import { type Database, statement } from '@fulfilment/database';
import { Gauge } from '@fulfilment/runtime';

const sumOversold = statement(
  'stock.sum-oversold',
  'SELECT coalesce(sum(oversold), 0) AS pieces FROM products WHERE oversold > 0',
);

const oversold = new Gauge({
  name: 'stock_oversold_pieces',
  help: 'Pieces of limited editions that were sold beyond the stock that the warehouse reports.',
});

export async function measureOversold(database: Database): Promise<void> {
  const sum = await database.row<{ pieces: number }>(sumOversold);
  oversold.set(sum?.pieces ?? 0);
}
