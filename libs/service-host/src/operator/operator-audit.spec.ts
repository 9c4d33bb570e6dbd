import { type Sql, statement, type Values } from '@fulfilment/database';
import { type ScratchDatabase, scratchDatabase } from '@fulfilment/database/testing';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createOperatorAudit, idsOf, readOperatorAudit, runAudited } from './operator-audit.js';

class OperatorAudit1700000000000 implements MigrationInterface {
  readonly name = 'OperatorAudit1700000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(createOperatorAudit);
  }
  async down(): Promise<void> {}
}

const deleteRecords = statement('test.delete-records', 'TRUNCATE operator_audit RESTART IDENTITY');

describe('the record of an operator command', () => {
  it('contains ids from the output of the command, and never a secret or an e-mail address', () => {
    const output = {
      client_id: 'abc',
      client_secret: 'hush',
      user_id: 'a@b.example',
      kid: 'k',
      org_id: null,
      paid: 'x', // ends with "id", but is no id
    };
    expect(idsOf(output)).toEqual(['abc', 'k']);
  });

  it('is not `failed` when the command succeeded but its outcome could not be written', async () => {
    const updates: Values[] = [];
    const sql: Sql = {
      rows: () => Promise.resolve([]),
      row: () => Promise.resolve(undefined),
      run: (_statement, values = []) => {
        updates.push(values);
        return Promise.reject(new Error('connection lost'));
      },
    };
    const command = { name: 'order cancel', operands: [], options: [] };
    const running = runAudited(sql, 'ann', command, () => Promise.resolve({}));
    await expect(running).rejects.toThrow('connection lost');
    expect(updates).toEqual([[undefined, 'done', []]]);
  });
});

describe('the records of operator commands', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await scratchDatabase([OperatorAudit1700000000000]);
  });
  afterAll(() => scratch.drop());
  beforeEach(() => scratch.database.run(deleteRecords));

  it('are written before the command runs, and completed after it', async () => {
    const newest = async () => (await readOperatorAudit(scratch.database, { limit: 1 })).records;
    const command = { name: 'order ship', operands: ['ord_1'], options: ['carrier'] };
    await runAudited(scratch.database, 'bea', command, async () => {
      const [started] = await newest();
      expect(started).toMatchObject({
        operator: 'bea',
        command: 'order ship',
        subjects: ['ord_1'],
        options: ['carrier'],
        outcome: 'started',
        ended_at: null,
      });
      return {};
    });
    expect(await newest()).toMatchObject([{ outcome: 'done', ended_at: expect.any(Date) }]);
  });

  it('are read in pages, the newest page first, and in ascending order within a page, also where positions get more digits', async () => {
    const command = { name: 'order ship', operands: [], options: [] };
    for (let count = 0; count < 12; count += 1)
      await runAudited(scratch.database, 'ann', command, () => Promise.resolve({}));
    const pages: string[][] = [];
    let before: string | undefined;
    do {
      const page = await readOperatorAudit(scratch.database, { before, limit: 5 });
      pages.push(page.records.map(({ position }) => position));
      before = page.before ?? undefined;
    } while (before !== undefined);
    expect(pages).toEqual([
      ['8', '9', '10', '11', '12'],
      ['3', '4', '5', '6', '7'],
      ['1', '2'],
    ]);
  });
});
