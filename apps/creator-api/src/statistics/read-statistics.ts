import type { Currency } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { Visibility } from '../visibility/visibility.js';
import { exactSums, type SumsRow } from './exact-sums.js';
import type { RoyaltiesView, SalesView } from './statistics.shapes.js';

export const monthTotals = statement(
  'statistics.totals',
  `SELECT c.settlement_currency AS currency, COALESCE(sum(m.units), 0)::text AS units,
     COALESCE(sum(m.revenue), 0)::text AS revenue, COALESCE(sum(m.royalties), 0)::text AS royalties
   FROM creators c
   LEFT JOIN monthly_statistics m ON m.creator_id = c.id AND m.period = $2 AND m.currency = c.settlement_currency
   WHERE c.id = $1 GROUP BY c.id`,
);

// Sorts by `m.royalties`, which is a number: the output column `royalties` is text.
const monthReleases = statement(
  'statistics.releases',
  `SELECT release_id AS release_group, ean, units::text, royalties::text FROM monthly_statistics AS m
   WHERE creator_id = $1 AND period = $2 AND currency = $3
   ORDER BY m.royalties DESC, release_id, ean`,
);

interface TotalsRow extends SumsRow {
  readonly currency: Currency;
}

interface ReleaseRow {
  release_group: string;
  ean: string;
  units: string;
  royalties: string;
}

/** Returns a creator's sales and royalties of a month in UTC, from sums that are updated with the ledger. */
@Injectable()
export class ReadStatistics {
  constructor(private readonly visibility: Visibility) {}

  /** @throws NotFound when the creator is not visible to the caller */
  sales(caller: Caller, creatorId: string, period: string): Promise<SalesView> {
    return this.visibility.readReplicaSnapshot(caller, async (tx) => {
      const { currency, units, revenue } =
        (await tx.row<TotalsRow>(monthTotals, [creatorId, period])) ?? throwNotFound('creator');
      return { period, currency, totals: { units: Number(units), revenue: BigInt(revenue) } };
    });
  }

  /** @throws NotFound when the creator is not visible to the caller */
  royalties(caller: Caller, creatorId: string, period: string): Promise<RoyaltiesView> {
    return this.visibility.readReplicaSnapshot(caller, async (tx) => {
      const { currency, ...sums } =
        (await tx.row<TotalsRow>(monthTotals, [creatorId, period])) ?? throwNotFound('creator');
      const releases = await tx.rows<ReleaseRow>(monthReleases, [creatorId, period, currency]);
      return {
        period,
        currency,
        totals: exactSums(sums),
        by_release: releases.map((release) => ({
          release_group: release.release_group,
          ean: release.ean,
          units: Number(release.units),
          royalty_amount: BigInt(release.royalties),
        })),
      };
    });
  }
}
