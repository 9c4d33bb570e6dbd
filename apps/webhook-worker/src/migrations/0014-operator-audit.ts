import { changeBriefly } from '@fulfilment/database';
import { createOperatorAudit, dropOperatorAudit } from '@fulfilment/service-host/operator';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which operator ran which command on this service. */
export class OperatorAudit1764000000014 implements MigrationInterface {
  readonly name = 'OperatorAudit1764000000014';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, createOperatorAudit);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(dropOperatorAudit);
  }
}
