import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresPrograms } from '../../dev/dependencies/postgres.ts';
import { readSeparateSettings } from '../../dev/settings.ts';
import { Supervisor } from '../../dev/supervisor/supervisor.ts';
import { chaosContext } from './context.ts';
import { PostgresPair } from './postgres-pair.ts';

const itWithPostgres = postgresPrograms() === undefined ? it.skip : it;

describe('the PostgreSQL servers of a run', () => {
  itWithPostgres('leave no data if the run ends before they have started', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'chaos-'));
    const supervisor = new Supervisor(stateDir, { line: () => undefined, notice: () => undefined });
    try {
      const context = chaosContext({ ...readSeparateSettings('chaos'), stateDir }, '');
      const pair = await PostgresPair.create(context, supervisor, { isSynchronous: true });
      expect(existsSync(pair.home)).toBe(true);
      await pair.stop();
      expect(existsSync(pair.home)).toBe(false);
    } finally {
      rmSync(stateDir, { recursive: true });
    }
  });
});
