import { z } from 'zod';
import { flag, text } from './arguments.ts';
import { authCommands } from './auth-commands.ts';
import { rebuildCommands } from './rebuild-commands.ts';
import { alone, type Command, word } from './command.ts';
import { deadLetterCommands } from './dead-letter-commands.ts';
import { serviceCommand } from './service-command.ts';
import { webhookTable } from './tables.ts';
import { orderCommands, productCommands } from './warehouse-commands.ts';

const paymentCommands = [
  serviceCommand('store-api', ['order', 'recharge'], {
    usage: 'ORDER | --since T [--until T]',
    positionals: ['ORDER'],
    flags: { since: word, until: word },
    arguments: z
      .object({ ORDER: text().optional(), since: text().optional(), until: text().optional() })
      .refine(({ ORDER, since }) => ORDER !== undefined || since !== undefined, {
        path: ['ORDER'],
        message: 'is missing',
      }),
  }),
  serviceCommand('store-api', ['payments', 'reconcile'], {
    usage: '[--since T] [--until T]',
    flags: { since: word, until: word },
    arguments: z.object({ since: text().optional(), until: text().optional() }),
  }),
  serviceCommand('store-api', ['order', 'redact'], {
    usage: 'ORDER',
    positionals: ['ORDER'],
    arguments: z.object({ ORDER: text() }),
  }),
];

const statisticsCommands = [
  serviceCommand('creator-api', ['rates', 'load'], {
    usage: 'FILE',
    positionals: ['FILE'],
    arguments: z.object({ FILE: text(4096) }),
  }),
  serviceCommand('creator-api', ['statistics', 'rebuild'], { usage: '', arguments: z.object({}) }),
];

const webhookCommands = [
  serviceCommand('webhook-worker', ['webhooks', 'list'], {
    usage: '--creator CREATOR [--client CLIENT] [--deleted] [--limit N] [--after ID]',
    flags: { creator: word, client: word, deleted: alone, limit: word, after: word },
    arguments: z.object({
      creator: text(),
      client: text().optional(),
      deleted: flag,
      limit: text(4).optional(),
      after: text().optional(),
    }),
    readable: webhookTable,
  }),
  serviceCommand('webhook-worker', ['webhooks', 'delete'], {
    usage: '--id ID',
    flags: { id: word },
    arguments: z.object({ id: text() }),
  }),
  serviceCommand('webhook-worker', ['webhooks', 'reseal'], { usage: '', arguments: z.object({}) }),
];

export const commands: readonly Command[] = [
  ...orderCommands,
  ...paymentCommands,
  ...productCommands,
  ...authCommands,
  ...statisticsCommands,
  ...rebuildCommands,
  ...webhookCommands,
  ...deadLetterCommands,
];
