import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import { text } from './arguments.ts';
import { type Command, word } from './command.ts';
import { operate } from './operate.ts';
import { serviceCommand } from './service-command.ts';
import { auditTable, operatorAuditTable } from './tables.ts';

const services = ['auth-server', 'store-api', 'creator-api', 'webhook-worker'] as const;
const asked = z.object({
  event: text().optional(),
  user: text().optional(),
  client: text().optional(),
  since: text().optional(),
  until: text().optional(),
  service: z.enum(services, `must be one of ${services.join(', ')}`).optional(),
  operator: text(100).optional(),
  limit: text(4).optional(),
  before: text().optional(),
});

const auditLog = serviceCommand('auth-server', ['audit'], {
  usage:
    '[--event E] [--user USER] [--client C] [--since T] [--until T] [--limit N] [--before K] | --service S [--operator NAME] [--limit N] [--before K]',
  flags: {
    event: word,
    user: word,
    client: word,
    since: word,
    until: word,
    service: word,
    operator: word,
    limit: word,
    before: word,
  },
  arguments: asked,
});

/**
 * The audit log of the authorization server; with `--service`, which operator ran which command on that
 * service.
 */
export const auditCommand: Command = {
  ...auditLog,
  readable: (result) => ('records' in result ? operatorAuditTable(result) : auditTable(result)),
  run: (suite, given) => {
    const { service, operator, limit, before, ...others } = asked.parse(given);
    if (service === undefined && operator !== undefined) throw new Failure('--operator requires --service.');
    if (service === undefined) return auditLog.run(suite, given);
    const foreign = Object.entries(others).find(([, value]) => value !== undefined);
    if (foreign !== undefined) throw new Failure(`--${foreign[0]} cannot be combined with --service.`);
    const options = Object.entries({ operator, limit, before }).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    );
    return operate(suite, service, ['operator-audit', ...options]);
  },
};
