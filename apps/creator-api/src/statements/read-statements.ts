import type { Currency, NumberedPage } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller, NumberedPageDto } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { textStream } from '../text-output/text-stream.js';
import { exactSums, type SumsRow } from '../statistics/exact-sums.js';
import { selectCreator } from '../visibility/select-creator.js';
import { Visibility } from '../visibility/visibility.js';
import { statementCsv } from './statement-csv.js';
import type { StatementPath } from './statements.dto.js';
import type { StatementView } from './statements.shapes.js';

const maxDownloadMs = 10 * 60_000;

const columns =
  'number, period, currency, lines, units::text, revenue::text, royalties::text, csv_bytes, csv_sha256, issued_at';
// The highest number is the number of statements, since numbers have no gaps.
const count = statement(
  'statements.count',
  'SELECT COALESCE(max(number), 0) AS total FROM statements WHERE creator_id = $1',
);
const readPage = statement(
  'statements.page',
  `SELECT ${columns} FROM statements WHERE creator_id = $1 ORDER BY number DESC LIMIT $2 OFFSET $3`,
);
const readOne = statement(
  'statements.read',
  `SELECT ${columns} FROM statements WHERE creator_id = $1 AND number = $2`,
);

interface StatementRow extends SumsRow {
  readonly number: number;
  readonly period: string;
  readonly currency: Currency;
  readonly lines: number;
  readonly csv_bytes: number;
  readonly csv_sha256: Buffer;
  readonly issued_at: Date;
}

interface StatementFile {
  readonly name: string;
  readonly sha256: Buffer;
  readonly content: Readable;
}

/** Returns the statements of closed months. */
@Injectable()
export class ReadStatements {
  constructor(private readonly visibility: Visibility) {}

  /** @throws NotFound when the creator is not visible to the caller */
  list(
    caller: Caller,
    creatorId: string,
    { page, per_page }: NumberedPageDto,
  ): Promise<NumberedPage<StatementView>> {
    return this.visibility.readReplicaSnapshot(caller, async (tx) => {
      await selectCreator(tx, creatorId);
      const total = (await tx.row<{ total: number }>(count, [creatorId]))?.total ?? 0;
      const rows = await tx.rows<StatementRow>(readPage, [creatorId, per_page, (page - 1) * per_page]);
      return { data: rows.map(statementView), meta: { page, per_page, total } };
    });
  }

  /** @throws NotFound when there is no such statement, or the creator is not visible to the caller */
  read(caller: Caller, path: StatementPath): Promise<StatementView> {
    return this.visibility.readReplicaSnapshot(caller, async (tx) =>
      statementView(await findStatement(tx, path)),
    );
  }

  /**
   * The stream holds a connection until it has been read. It ends with an error if its bytes differ from the
   * file that was issued.
   * @throws NotFound like `read`
   */
  async download(caller: Caller, path: StatementPath): Promise<StatementFile> {
    const found = await this.visibility.snapshot(caller, (tx) => findStatement(tx, path));
    const { number, period, currency, csv_sha256: sha256 } = found;
    const content = await textStream(
      (write) =>
        // Not `readReplicaSnapshot`, which may run the work twice: a part of the file may have been sent.
        this.visibility.snapshot(caller, async (tx) => {
          await selectCreator(tx, path.uuid);
          const digest = createHash('sha256');
          for await (const { text } of statementCsv(tx, { creatorId: path.uuid, period, currency })) {
            digest.update(text);
            await write(text);
          }
          if (!digest.digest().equals(sha256))
            throw new Error('The ledger lines differ from the issued statement.');
        }),
      maxDownloadMs,
    );
    return { name: `statement-${number}-${period}.csv`, sha256, content };
  }
}

async function findStatement(tx: Transaction, { uuid, number }: StatementPath): Promise<StatementRow> {
  await selectCreator(tx, uuid);
  return (await tx.row<StatementRow>(readOne, [uuid, number])) ?? throwNotFound('statement');
}

function statementView(row: StatementRow): StatementView {
  return {
    number: row.number,
    period: row.period,
    currency: row.currency,
    issued_at: row.issued_at.toISOString(),
    totals: exactSums(row),
    lines: row.lines,
    csv: { bytes: row.csv_bytes, sha256: row.csv_sha256.toString('hex') },
  };
}
