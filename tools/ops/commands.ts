import { z } from 'zod';
import { text } from './arguments.ts';
import { authCommands } from './auth-commands.ts';
import { rebuildCommands } from './rebuild-commands.ts';
import type { Command } from './command.ts';
import { deadLetterCommands } from './dead-letter-commands.ts';
import { serviceCommand } from './service-command.ts';
import { orderCommands, productCommands } from './warehouse-commands.ts';

const paymentCommands = [
  serviceCommand('store-api', ['order', 'recharge'], {
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
