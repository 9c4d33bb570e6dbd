import { type OrderSnapshot, uuidv7 } from '@fulfilment/contracts';

/** Number of releases in the orders and postings of the benchmarks. */
export const releaseCount = 40;
/** The UUIDs of releases end with consecutive numbers from this one; those of creators end with 1 to 3. */
const firstReleaseNumber = 4096;

/** An order of two lines, placed now. The index chooses the two releases. */
export function placedOrder(index: number, creatorId: string): OrderSnapshot {
  const at = new Date().toISOString();
  const item = (line: number) => ({
    id: uuidv7(),
    product_id: uuidv7(),
    release_id: releaseId((index + line) % releaseCount),
    release_title: 'Quiet Machinery',
    product_type: 'vinyl_12_lp',
    ean: '2000000000015',
    quantity: line,
    unit_amount: 2499,
    royalty_rate: 1500,
  });
  return {
    id: uuidv7(),
    version: 1,
    creator_id: creatorId,
    client_id: 'app-1',
    status: 'pending',
    source: { platform: 'shop', store_id: 'store-1', external_order_id: String(index) },
    placed_at: at,
    updated_at: at,
    currency: 'GBP',
    country_code: 'GB',
    total_amount: 3 * 2499 + 350,
    shipping_amount: 350,
    item_count: 3,
    payment: { method: 'card', status: 'pending', charged_at: null, refunded_at: null },
    tracking: null,
    delivered_at: null,
    items: [item(1), item(2)],
  };
}

function releaseId(index: number): string {
  return `01900000-0000-7000-8000-${(firstReleaseNumber + index).toString(16).padStart(12, '0')}`;
}

/** Returns an SQL expression for the id of a release. @param index expression from 0 to `releaseCount` - 1 */
export function releaseIdInSql(index: string): string {
  return `('01900000-0000-7000-8000-' || lpad(to_hex(${firstReleaseNumber} + ${index}), 12, '0'))::uuid`;
}

/** The same order after its payment, which is its second version. */
export function paidOrder(order: OrderSnapshot): OrderSnapshot {
  const payment = { ...order.payment, status: 'paid' as const, charged_at: order.placed_at };
  return { ...order, version: 2, status: 'processing', payment };
}
