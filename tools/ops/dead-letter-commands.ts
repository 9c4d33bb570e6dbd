import { z } from 'zod';
import { word } from './command.ts';
import { text } from './arguments.ts';
import { serviceCommand } from './service-command.ts';
import { deadLetterTable } from './tables.ts';

/** Any service's program can handle all queues, since they are on one broker. */
const service = 'store-api';

export const deadLetterCommands = [
  serviceCommand(service, ['dead-letters', 'list'], {
    usage: '[--queue QUEUE] [--limit N]',
    flags: { queue: word, limit: word },
    arguments: z.object({ queue: text().optional(), limit: text().optional() }),
    readable: deadLetterTable,
  }),
  serviceCommand(service, ['dead-letters', 'show'], {
    usage: 'QUEUE MESSAGE',
    positionals: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: text(), MESSAGE: text() }),
  }),
  serviceCommand(service, ['dead-letters', 'replay'], {
    usage: 'QUEUE MESSAGE|all',
    positionals: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: text(), MESSAGE: text() }),
  }),
  serviceCommand(service, ['dead-letters', 'discard'], {
    usage: 'QUEUE MESSAGE',
    positionals: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: text(), MESSAGE: text() }),
  }),
];
