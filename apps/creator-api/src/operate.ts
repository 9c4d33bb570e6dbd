import { serviceSettings } from '@fulfilment/runtime';
import { runServiceCli, defineCommand, type CommandContext } from '@fulfilment/service-host/operator';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { migrations } from './migrations/index.js';
import { rebuildCounts } from './orders/rebuild-counts.js';
import { loadRates } from './exchange-rates/load-rates.js';
import { rebuildStatistics } from './statistics/rebuild-statistics.js';

type Site = CommandContext<unknown>;

async function readText(file: string, { input }: Site): Promise<string> {
  try {
    return file === '-' ? await input() : await readFile(file, 'utf8');
  } catch {
    throw new Error(`Cannot read the file ${file}.`);
  }
}

await runServiceCli({
  name: 'creator-api',
  migrations,
  settings: serviceSettings.pick({ DATABASE_URL: true }),
  context: (site): Site => site,
  commands: {
    'rates load': defineCommand({
      operands: ['FILE'], // `-` is standard input
      arguments: z.object({ FILE: z.string('is missing').min(1, 'must not be empty') }),
      run: async (site: Site, { FILE }) => loadRates(site.database, await readText(FILE, site)),
    }),
    'order-counts rebuild': defineCommand({
      arguments: z.object({}),
      run: ({ database }: Site) => rebuildCounts(database),
    }),
    'statistics rebuild': defineCommand({
      arguments: z.object({}),
      run: ({ database }: Site) => rebuildStatistics(database),
    }),
  },
});
