import { timeArgument, defineCommand, limitArgument, textArgument } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { auditEvents } from '../audit/audit-log.js';
import { readAuditLog } from '../audit/read-audit-log.js';
import type { OperatorContext } from './operator-context.js';

/**
 * Command for the audit log, the only command that shows network addresses and user agents (personal data).
 */
export const auditCommands = {
  audit: defineCommand({
    summary: 'shows the audit log of the authorization server, newest last',
    options: [
      '--event <EVENT>',
      '--user <USER>',
      '--client <CLIENT>',
      '--since <TIME>',
      '--until <TIME>',
      '--limit <NUMBER>',
      '--before <POSITION>',
    ],
    arguments: z.object({
      event: z.enum(auditEvents, `must be one of ${auditEvents.join(', ')}`).optional(),
      user: textArgument().optional(),
      client: textArgument().optional(),
      since: timeArgument.optional(),
      until: timeArgument.optional(),
      before: z
        .string()
        .regex(/^\d{1,17}\.\d{1,18}$/, 'must be the `before` of an earlier page')
        .optional(),
      limit: limitArgument(),
    }),
    run: ({ database }: OperatorContext, query) => readAuditLog(database, query),
  }),
};
