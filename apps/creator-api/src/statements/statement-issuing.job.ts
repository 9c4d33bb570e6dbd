import { nilUuid } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, type Database, statement } from '@fulfilment/database';
import { BackgroundLoop, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { creatorsIn } from '../read-models/rebuild-by-creator.js';
import { creatorsWithMissingStatements, issueStatements } from './issue-statements.js';

const pollIntervalMs = 10_000;
const creatorsPerRound = 500;

// Finds no row if a whole pass was made since the last month closed.
const readFirstOpenMonth = statement(
  'statements.months',
  `SELECT first_open_month AS "firstOpenMonth" FROM statistics_close WHERE statements_before < first_open_month`,
);
const readCreators = creatorsIn('statements.creators', ['ledger']);
const finishPass = statement(
  'statements.finish',
  'UPDATE statistics_close SET statements_before = $1 WHERE statements_before < $1',
);

/** One pass through all creators. */
interface Pass {
  /** The first open month when the pass began. */
  readonly firstOpenMonth: string;
  /** Id of the last creator that was checked. */
  readonly after: string;
}

/**
 * Issues the statements of closed months, in a pass through all creators. Any number of replicas may run it.
 * A process that restarts begins a new pass.
 */
@Injectable()
export class StatementIssuing extends BackgroundLoop {
  private pass: Pass | undefined;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super({ name: 'statements', intervalMs: pollIntervalMs, logger, round: () => this.issuePage() });
  }

  /** Issues the statements of the next creators of the pass. Returns whether there are more creators. */
  async issuePage(): Promise<boolean> {
    const pass = this.pass ?? (await this.beginPass());
    if (pass === undefined) return false;
    const rows = await this.database.rows<{ creator_id: string }>(readCreators, [
      pass.after,
      creatorsPerRound,
    ]);
    const creators = rows.map(({ creator_id }) => creator_id);
    let issued = 0;
    for (const creator of await creatorsWithMissingStatements(this.database, creators))
      issued += await issueStatements(this.database, creator);
    if (issued > 0) this.logger.info({ statements: issued }, 'Statements of closed months were issued.');
    const last = creators.at(-1);
    const isLastPage = last === undefined || creators.length < creatorsPerRound;
    this.pass = isLastPage ? undefined : { ...pass, after: last };
    if (isLastPage) await this.database.run(finishPass, [pass.firstOpenMonth]);
    return !isLastPage;
  }

  private async beginPass(): Promise<Pass | undefined> {
    const row = await this.database.row<Pick<Pass, 'firstOpenMonth'>>(readFirstOpenMonth);
    return row && { ...row, after: nilUuid };
  }
}
