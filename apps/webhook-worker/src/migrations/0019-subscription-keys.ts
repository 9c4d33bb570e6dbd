import { changeBriefly } from '@fulfilment/database';
import { createIdempotencyKeys } from '@fulfilment/http-service';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The keys of requests that created a subscription, with their responses. */
export class SubscriptionKeys1764000000019 implements MigrationInterface {
  readonly name = 'SubscriptionKeys1764000000019';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, createIdempotencyKeys);
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'DROP TABLE IF EXISTS idempotency_keys');
  }
}
