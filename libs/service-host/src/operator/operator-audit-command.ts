import type { Database } from '@fulfilment/database';
import { z } from 'zod';
import { readOperatorAudit } from './operator-audit.js';
import { defineCommand, type Commands } from './define-command.js';

const limits = 'must be from 1 to 1000';

/** Reads the log of operator commands of this service. This command is recorded too. */
export const operatorAuditCommands: Commands<{ readonly database: Database }> = {
  'operator-audit': defineCommand({
    flags: { operator: 'text', limit: 'text', before: 'text' },
    arguments: z.object({
      operator: z.string().min(1, 'must not be empty').optional(),
      limit: z.coerce.number(limits).int(limits).min(1, limits).max(1000, limits).default(100),
      before: z
        .string()
        .regex(/^\d{1,18}$/, 'must be the `before` of an earlier page')
        .optional(),
    }),
    run: ({ database }: { readonly database: Database }, query) => readOperatorAudit(database, query),
  }),
};
