import { describe, expect, it } from '@jest/globals';
import { Failure } from '../dev/failure.ts';
import { commands } from './commands.ts';
import { readCommandLine } from './read-command-line.ts';

const right: Readonly<Record<string, string>> = {
  'order ship': 'ord_1 --carrier UPS --tracking-number 1Z --tracking-url https://track.example/1Z',
  'order track':
    'ord_1 --carrier UPS --tracking-number 1Z --tracking-url https://track.example/1Z --replaces 0Z',
  'order deliver': 'ord_1 --tracking-number 1Z',
  'order cancel': 'ord_1 --reason lost',
  'order recharge': 'ord_1',
  'order redact': 'ord_1',
  'payments reconcile': '',
  'stock set': 'prod_1 0',
  'stock adjust': 'prod_1 -3',
  'product release': 'prod_1',
  'product withdraw': 'prod_1',
  'release approve': 'prod_1 --product-type vinyl',
  'organisation create': '--name Harbour',
  'user create': '--email a@b.example --password secret-secret --organisation org_1 --role owner',
  'user disable': 'a@b.example',
  'user enable': 'a@b.example',
  'user reset-second-factor': 'a@b.example',
  'user password': 'a@b.example --password secret-secret',
  'user redact': 'a@b.example',
  'user role': 'a@b.example --role none --organisation org_1',
  'creator change': 'crt_1 --name Mira --payment-terms yes --tax-interview no --payment-method none',
  'creator create': '--organisation org_1 --name Mira --payment-method pm_ok --settlement-currency EUR',
  'creator payment-method': 'crt_1 pm_1PqXaBCdEf',
  'creator redact': 'crt_1',
  'client create':
    '--name App --redirect-uri https://a.example/cb --redirect-uri https://b.example/cb --first-party',
  'webhooks list': '--creator crt_1 --client abc --deleted --limit 10 --after whk_1',
  'webhooks delete': '--id whk_1',
  'webhooks reseal': '',
  'client list': '--limit 10 --after abc',
  'client secret': 'abc',
  'client delete': 'abc',
  'keys list': '',
  'keys rotate': '',
  'keys remove': 'Xp3',
  'keys reseal': '',
  audit: '--event signed_in --user a@b.example --client abc --since 2h --until 2026-01-01 --limit 5',
  'rates load': 'rates.csv',
  'statistics rebuild': '',
  'dead-letters list': '--queue store-api.fulfilment --limit 10',
  'dead-letters show': 'store-api.fulfilment 01900000-0000-7000-8000-000000000001',
  'dead-letters replay': 'store-api.fulfilment all',
  'dead-letters discard': 'store-api.fulfilment 01900000-0000-7000-8000-000000000001',
};
const all = commands.map((command) => {
  const name = command.words.join(' ');
  return {
    name,
    command,
    args: [...command.words, ...(right[name] ?? '').split(' ').filter((word) => word !== '')],
  };
});

/** The line a person gets to read. */
function complaintAbout(args: readonly string[]): string {
  try {
    readCommandLine(args);
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
  throw new Error(`"${args.join(' ')}" was taken.`);
}

function expectOnePlainLine(line: string): void {
  expect(line).not.toContain('\n');
  expect(line).not.toMatch(/Invalid input|received|expected|undefined|Error|ERR_/);
}

describe.each(all)('ops $name', ({ name, command, args }) => {
  it('is taken as it should be typed, with --json at either end too', () => {
    for (const line of [args, [...args, '--json'], ['--json', ...args]])
      expect(readCommandLine(line)).toMatchObject({ command, json: line.includes('--json') });
  });

  it('tells how it is typed', () => {
    for (const option of ['--help', '-h'])
      expect(readCommandLine([...args, option])).toEqual({ help: expect.stringContaining(command.usage) });
  });

  it.each([[], ['--json']])('names what is wrong in one line %j', (...json) => {
    const wrongs: [string[], string][] = [
      [[...args, '--nonsense'], 'Unknown option --nonsense.'],
      [[...args, '--constructor=x'], 'Unknown option --constructor.'],
      [[...args, '-x'], 'Unknown option -x.'],
      [[...args, 'surplus'], 'Too many arguments: "surplus".'],
      [[...args, '--json=yes'], '--json takes no value.'],
      ...Object.entries(command.flags).map(([flag, { type }]): [string[], string] =>
        type === 'boolean'
          ? [[...args, `--${flag}=yes`], `--${flag} takes no value.`]
          : [[...args, `--${flag}`], `--${flag} needs a value.`],
      ),
      ...Object.entries(command.flags)
        .filter(([, { type, multiple }]) => type === 'string' && multiple !== true)
        .map(([flag]): [string[], string] => [
          [...command.words, ...command.positionals, `--${flag}=a`, `--${flag}=b`],
          `--${flag} must be given only once.`,
        ]),
      ...command.positionals
        .slice(0, 1)
        .map((first): [string[], string] => [[...command.words], `${first} is missing.`]),
    ];
    for (const [line, complaint] of wrongs) {
      const message = complaintAbout([...line, ...json]);
      expect(message).toContain(complaint);
      expect(message).toContain(`Usage: npm run -s ops -- ${name}`);
      expectOnePlainLine(message);
    }
  });

  it('takes no empty value', () => {
    for (const at of args.keys()) {
      if (at < command.words.length || args[at]?.startsWith('--') === true) continue;
      expectOnePlainLine(complaintAbout(args.with(at, '')));
    }
  });
});

describe('an ops command line', () => {
  it.each([
    ['order ship ord_1', '--carrier is missing. --tracking-number is missing. --tracking-url is missing.'],
    [
      'order ship ord_1 --carrier C --tracking-number N --tracking-url x',
      '--tracking-url must be an http or https address.',
    ],
    ['order ship ord_1 --carrier --json', '--carrier needs a value.'],
    [`order cancel ord_1 --reason ${'x'.repeat(501)}`, '--reason must be at most 500 characters long.'],
    ['stock set prod_1 -1', 'N must be a whole number from 0 to 999999999.'],
    ['stock set prod_1 -12.5', 'N must be a whole number'],
    ['stock set prod_1 1.5', 'N must be a whole number'],
    ['stock set prod_1 1000000000', 'N must be a whole number'],
    ['stock set prod_1', 'N is missing.'],
    ['stock adjust prod_1 0', 'DELTA must be a whole number from -999999999 to 999999999, and not 0.'],
    ['stock adjust prod_1 -1.5', 'DELTA must be a whole number'],
    ['stock adjust prod_1', 'DELTA is missing.'],
    ['user create --email x --password secret-secret', '--email must be an e-mail address.'],
    ['user create --email a@b.example --password secret-secret --role king', '--role must be one of owner'],
    [
      'creator create --organisation o --name n --payment-method cash',
      '--payment-method must be none, or the id of a payment method at',
    ],
    ['creator payment-method crt_1 cash', 'METHOD must be none, or the id of a payment method'],
    ['user role a@b.example', '--role is missing.'],
    ['creator change crt_1 --payment-terms perhaps', '--payment-terms must be one of yes, no.'],
    ['audit nonsense', 'Too many arguments: "nonsense".'],
    ['client create --name App', '--redirect-uri is missing.'],
    [
      'order',
      'Unknown command "order". Commands of "order": ship, track, deliver, cancel, recharge, redact.',
    ],
    ['order lose ord_1', 'Unknown command "order lose". Commands of "order": ship'],
    ['nonsense', 'Unknown command "nonsense". All commands: npm run -s ops -- --help'],
    ['--nonsense', 'A command is missing.'],
    ['--json', 'A command is missing.'],
  ])('%s is answered in one plain line', (line, complaint) => {
    const message = complaintAbout(line.split(' '));
    expect(message).toContain(complaint);
    expectOnePlainLine(message);
  });

  it('without a command, or with --help, lists them all', () => {
    for (const args of [[], ['--help'], ['order', '--help'], ['nonsense', '-h']]) {
      const read = readCommandLine(args);
      const help = 'help' in read ? read.help : '';
      for (const { usage } of commands) expect(help).toContain(usage);
    }
  });
});
