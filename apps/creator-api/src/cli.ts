import { serviceSettings } from '@fulfilment/runtime';
import {
  defineCommand,
  runServiceCli,
  textArgument,
  type CommandContext,
} from '@fulfilment/service-host/operator';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { migrations } from './migrations/index.js';
import { rebuildCounts } from './orders/rebuild-counts.js';
import { loadRates } from './exchange-rates/load-rates.js';
import { rebuildBreakdown, rebuildStatistics } from './statistics/rebuild-statistics.js';

type Context = CommandContext<unknown>;

async function readText(file: string, { input }: Context): Promise<string> {
  try {
    return file === '-' ? await input() : await readFile(file, 'utf8');
  } catch (cause) {
    throw new Error(file === '-' ? 'Cannot read standard input.' : `Cannot read the file ${file}.`, {
      cause,
    });
  }
}

await runServiceCli({
  name: 'creator-api',
  migrations,
  doctor: {
    allSettings: async () => (await import('./config.js')).creatorApiSettings,
    roles: ['creator_api_member', 'creator_api_operator'],
  },
  settings: serviceSettings.pick({ DATABASE_URL: true }),
  context: (context): Context => context,
  commands: {
    'rates load': defineCommand({
      summary: 'loads reference rates of the ECB, XML or CSV',
      operands: ['FILE'], // `-` is standard input
      arguments: z.object({ FILE: textArgument(4096) }),
      run: async (context: Context, { FILE }) => loadRates(context.database, await readText(FILE, context)),
    }),
    'order-counts rebuild': defineCommand({
      summary: 'recalculates the numbers of orders of creators',
      arguments: z.object({}),
      run: ({ database }: Context) => rebuildCounts(database),
    }),
    'statistics rebuild': defineCommand({
      summary: 'recalculates the monthly sums of the royalty ledger',
      arguments: z.object({}),
      run: async ({ database }: Context) => {
        const months = await rebuildStatistics(database);
        const { differed } = await rebuildBreakdown(database);
        return { ...months, breakdown_differed: differed };
      },
    }),
  },
});
