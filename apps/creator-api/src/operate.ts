import { createDataSource, Database } from '@fulfilment/database';
import { readConfig, serviceSettings } from '@fulfilment/runtime';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { migrations } from './migrations/index.js';
import { loadRates } from './statistics/load-rates.js';
import { rebuildStatistics } from './statistics/rebuild-statistics.js';

/** What the operator may do to this service's data: `node dist/operate.js rates load FILE`, where `-` is standard input. Answers one JSON object. */
const commands: Readonly<Record<string, (database: Database, argument: string) => Promise<object>>> = {
  'rates load': async (database, file) => loadRates(database, await readText(file)),
  'statistics rebuild': (database) => rebuildStatistics(database),
};

async function operate([noun = '', verb = '', argument = '']: readonly string[]): Promise<object> {
  const command = commands[`${noun} ${verb}`];
  if (command === undefined) throw new Error(`Say one of: ${Object.keys(commands).join(', ')}.`);
  if (noun === 'rates' && argument === '') throw new Error('Say which file: rates load FILE.');
  const { DATABASE_URL: url } = readConfig(serviceSettings.pick({ DATABASE_URL: true }));
  const dataSource = createDataSource({
    url,
    poolSize: 2,
    applicationName: 'creator-api operate',
    migrations,
    statementTimeoutMs: 0,
  });
  await dataSource.initialize();
  try {
    return await command(new Database(dataSource), argument);
  } finally {
    await dataSource.destroy();
  }
}

async function readText(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch {
    throw new Error(`The file ${file} cannot be read.`);
  }
}

try {
  const answer = await operate(process.argv.slice(2).filter((word) => word !== '--json'));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'The command failed.'}\n`);
  process.exitCode = 1;
}
