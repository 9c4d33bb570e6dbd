import { statement, type Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { ApproveRelease } from './approve-release.js';

const readPendingReleases = statement(
  'release.read-pending-of-test-creator',
  `SELECT DISTINCT p.release_id AS id FROM products p JOIN creators c ON c.id = p.creator_id AND c.test
   WHERE p.creator_id = $1 AND p.status = 'pending'`,
);

/** Approves a test creator's pending releases at once, at list prices and without an operator. */
@Injectable()
export class ApproveTestReleases {
  constructor(private readonly approveRelease: ApproveRelease) {}

  /** Call after the creator or a release of it is written. Does nothing for a live creator. */
  async run(tx: Transaction, creatorId: string, occurredAt: string): Promise<void> {
    const releases = await tx.rows<{ id: string }>(readPendingReleases, [creatorId]);
    for (const { id } of releases) await this.approveRelease.run(tx, { release_id: id }, occurredAt);
  }
}
