import type { Database } from '@fulfilment/database';
import { z } from 'zod';
import { readOperatorAudit } from './operator-audit.js';
import { maxOperatorNameLength } from './operator-name.js';
import { defineCommand, limitArgument, textArgument, type Commands } from './define-command.js';

/** Reads the log of operator commands of this service. This command is recorded too. */
export const operatorAuditCommands: Commands<{ readonly database: Database }> = {
  'operator-audit': defineCommand({
    summary: 'shows the operator commands that were run on this service, newest last',
    options: ['--operator <NAME>', '--limit <NUMBER>', '--before <POSITION>'],
    arguments: z.object({
      operator: textArgument(maxOperatorNameLength).optional(),
      limit: limitArgument(),
      before: z
        .string()
        .regex(/^\d{1,18}$/, 'must be the `before` of an earlier page')
        .optional(),
    }),
    run: ({ database }: { readonly database: Database }, query) => readOperatorAudit(database, query),
  }),
};
