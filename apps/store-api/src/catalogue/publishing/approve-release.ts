import { isUuid, messages, parsePublicId } from '@fulfilment/contracts';
import { statement, type Transaction, qualifyColumns } from '@fulfilment/database';
import { Outbox, RejectedMessage } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { type ProductRow, productColumns, productSnapshot } from '../product-row.js';
import { nextUpdateTimeSql } from '../../next-update-time.js';

/** The data of `catalogue.release_approved`. */
type Approval = z.output<(typeof messages.catalogueReleaseApproved)['schema']>;

const lockRelease = statement('release.lock', 'SELECT id FROM releases WHERE id = $1 FOR UPDATE');
const readType = statement(
  'product-type.read',
  'SELECT product_type FROM product_types WHERE product_type = $1',
);
// A product that was withdrawn before its approval arrives is unavailable and has no prices. The approval
// sets its prices, and makes it available unless the withdrawal is later than the approval. A time in the
// future counts as the current time, as for other events about a product (`SetProductStatus`). Locks the
// products in the order of their ids, as stock events do.
const publishPending = statement(
  'release.publish-pending',
  `UPDATE products p SET
     status = CASE WHEN p.status_set_at > least(:occurred_at, now()) THEN p.status ELSE 'available' END,
     status_set_at = greatest(p.status_set_at, least(:occurred_at, now())),
     product_type = t.product_type, lead_time_days = t.lead_time_days, royalty_rate = t.royalty_rate,
     price_gbp = coalesce(:gbp, t.price_gbp), price_usd = coalesce(:usd, t.price_usd),
     price_eur = coalesce(:eur, t.price_eur), price_jpy = coalesce(:jpy, t.price_jpy),
     version = p.version + 1, updated_at = ${nextUpdateTimeSql}
   FROM product_types t, (
     SELECT id FROM products
     WHERE release_id = :release_id AND (status = 'pending' OR (status = 'unavailable' AND price_gbp IS NULL))
     ORDER BY id FOR NO KEY UPDATE) AS unpriced
   WHERE p.id = unpriced.id AND t.product_type = coalesce(:product_type, p.product_type)
   RETURNING ${qualifyColumns('p', productColumns)}`,
);
// Runs for each message about a creator. Products have no index by creator, so they are looked up by release,
// in a subquery, which always uses an index (`JsonRows`). A live creator has no row in the first subquery.
export const readPendingReleases = statement(
  'release.read-pending-of-test-creator',
  `SELECT id FROM releases
   WHERE creator_id = (SELECT id FROM creators WHERE id = :creator_id AND test)
     AND (SELECT true FROM products WHERE release_id = releases.id AND status = 'pending' LIMIT 1)`,
);

/**
 * Prices and publishes a pending release: with the given prices, else the product type's list prices.
 * Idempotent.
 */
@Injectable()
export class ApproveRelease {
  constructor(
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws RejectedMessage for an unknown release or product type */
  async run(
    tx: Transaction,
    { release_id: releaseId, prices, product_type: productType }: Approval,
    occurredAt: string,
  ): Promise<void> {
    const uuid = parsePublicId('prod', releaseId) ?? releaseId.toLowerCase();
    if (!isUuid(uuid) || (await tx.row(lockRelease, [uuid])) === undefined) {
      throw new RejectedMessage(`release ${releaseId} does not exist`);
    }
    if (productType !== undefined && (await tx.row(readType, [productType])) === undefined) {
      throw new RejectedMessage('the product type does not exist');
    }
    const products = await tx.rows<ProductRow>(publishPending, {
      release_id: uuid,
      product_type: productType,
      gbp: prices?.GBP,
      usd: prices?.USD,
      eur: prices?.EUR,
      jpy: prices?.JPY,
      occurred_at: occurredAt,
    });
    const options = { occurredAt: this.clock() };
    const outgoing = products
      .filter(({ status }) => status === 'available')
      .map((row) => messages.productAvailable.make({ product: productSnapshot(row) }, options));
    await this.outbox.add(tx, ...outgoing);
  }

  /**
   * Approves a test creator's pending releases at list prices, without an operator. Does nothing for a live
   * creator. Call it after the creator or one of the creator's releases is written.
   */
  async approveTestReleases(tx: Transaction, creatorId: string, occurredAt: string): Promise<void> {
    const releases = await tx.rows<{ id: string }>(readPendingReleases, { creator_id: creatorId });
    for (const { id } of releases) await this.run(tx, { release_id: id }, occurredAt);
  }
}
