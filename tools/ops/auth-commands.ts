import { z } from 'zod';
import { currency, email, flag, paymentMethod, role, roleOrNone, text, yesOrNo } from './arguments.ts';
import { auditCommand } from './audit-command.ts';
import { clientTable } from './tables.ts';
import { alone, type Command, word } from './command.ts';
import { serviceCommand } from './service-command.ts';

function authCommand(words: Command['words'], rest: Parameters<typeof serviceCommand>[2]): Command {
  return serviceCommand('auth-server', words, rest);
}

const person = { positionals: ['USER'] };
const clientArgument = { usage: 'CLIENT', positionals: ['CLIENT'], arguments: z.object({ CLIENT: text() }) };

const accountCommands = [
  authCommand(['organisation', 'create'], {
    usage: '--name N',
    flags: { name: word },
    arguments: z.object({ name: text(200) }),
  }),
  authCommand(['user', 'create'], {
    usage: '--email E --password P|- [--name N] [--organisation O] [--role R]',
    flags: { email: word, password: word, name: word, organisation: word, role: word },
    arguments: z.object({
      email,
      password: text(1024),
      name: text(200).optional(),
      organisation: text().optional(),
      role: role.optional(),
    }),
  }),
  authCommand(['user', 'disable'], { ...person, usage: 'USER', arguments: z.object({ USER: text() }) }),
  authCommand(['user', 'enable'], { ...person, usage: 'USER', arguments: z.object({ USER: text() }) }),
  authCommand(['user', 'redact'], { ...person, usage: 'USER', arguments: z.object({ USER: text() }) }),
  authCommand(['user', 'reset-second-factor'], {
    ...person,
    usage: 'USER',
    arguments: z.object({ USER: text() }),
  }),
  authCommand(['user', 'password'], {
    ...person,
    usage: 'USER --password P|-',
    flags: { password: word },
    arguments: z.object({ USER: text(), password: text(1024) }),
  }),
  authCommand(['user', 'role'], {
    ...person,
    usage: 'USER --role owner|admin|member|global_admin|none [--organisation O]',
    flags: { role: word, organisation: word },
    arguments: z.object({ USER: text(), role: roleOrNone, organisation: text().optional() }),
  }),
];

const creatorFlags = {
  name: word,
  'payment-method': word,
  'payment-terms': word,
  'tax-interview': word,
  'settlement-currency': word,
};
const creatorOptions = '[--payment-terms yes|no] [--tax-interview yes|no] [--settlement-currency C]';

const creatorCommands = [
  authCommand(['creator', 'create'], {
    usage: `--organisation O --name N --payment-method pm_…|none ${creatorOptions}`,
    flags: { organisation: word, ...creatorFlags },
    arguments: z.object({
      organisation: text(),
      name: text(200),
      'payment-method': paymentMethod,
      'payment-terms': yesOrNo.optional(),
      'tax-interview': yesOrNo.optional(),
      'settlement-currency': currency.optional(),
    }),
  }),
  authCommand(['creator', 'change'], {
    usage: `CREATOR [--name N] [--payment-method pm_…|none] ${creatorOptions}`,
    positionals: ['CREATOR'],
    flags: creatorFlags,
    arguments: z.object({
      CREATOR: text(),
      name: text(200).optional(),
      'payment-method': paymentMethod.optional(),
      'payment-terms': yesOrNo.optional(),
      'tax-interview': yesOrNo.optional(),
      'settlement-currency': currency.optional(),
    }),
  }),
  authCommand(['creator', 'payment-method'], {
    usage: 'CREATOR pm_…|none',
    positionals: ['CREATOR', 'METHOD'],
    arguments: z.object({ CREATOR: text(), METHOD: paymentMethod }),
  }),
  authCommand(['creator', 'redact'], {
    usage: 'CREATOR',
    positionals: ['CREATOR'],
    arguments: z.object({ CREATOR: text() }),
  }),
];

const clientCommands = [
  authCommand(['client', 'create'], {
    usage: '--name N --redirect-uri U [--first-party] [--confidential] [--resource-server]',
    flags: {
      name: word,
      'redirect-uri': { type: 'string', multiple: true },
      'first-party': alone,
      confidential: alone,
      'resource-server': alone,
    },
    arguments: z
      .object({
        name: text(100),
        'redirect-uri': z.array(text(2048)).optional(),
        'first-party': flag,
        confidential: flag,
        'resource-server': flag,
      })
      .refine((given) => given.confidential || given['resource-server'] || given['redirect-uri'], {
        path: ['redirect-uri'],
        error: 'is missing',
      }),
  }),
  authCommand(['client', 'list'], {
    usage: '[--limit N] [--after CLIENT]',
    flags: { limit: word, after: word },
    arguments: z.object({ limit: text(4).optional(), after: text().optional() }),
    readable: clientTable,
  }),
  authCommand(['client', 'secret'], clientArgument),
  authCommand(['client', 'delete'], clientArgument),
];

const securityCommands = [
  authCommand(['keys', 'list'], { usage: '', arguments: z.object({}) }),
  authCommand(['keys', 'rotate'], { usage: '', arguments: z.object({}) }),
  authCommand(['keys', 'remove'], {
    usage: 'KEY',
    positionals: ['KEY'],
    arguments: z.object({ KEY: text() }),
  }),
  authCommand(['keys', 'reseal'], { usage: '', arguments: z.object({}) }),
  auditCommand,
];

/** Accounts, creators, clients, signing keys and the audit log belong to auth-server. */
export const authCommands = [...accountCommands, ...creatorCommands, ...clientCommands, ...securityCommands];
