import { userInfo } from 'node:os';
import { z } from 'zod';
import { defineCommand } from './define-command.js';
import { runCli } from './run-cli.js';

/** Returns a program with a few commands, and what it has done. `user create` writes to `done`. */
function program(environment: Readonly<Record<string, string>> = { OPERATOR: 'ann' }) {
  const done: string[] = [];
  const operators: string[] = [];
  const recorded: object[] = [];
  let opened = 0;
  let closed = 0;
  const commands = {
    'user create': defineCommand({
      summary: 'creates a user',
      options: ['--email <E>', '--redirect-uri <U...>', '--confidential'],
      arguments: z.object({
        email: z.string('is missing').refine((email) => email.includes('@'), 'must be an e-mail address'),
        'redirect-uri': z.array(z.string().startsWith('https:', 'must be an https address')).default([]),
        confidential: z.boolean().default(false),
      }),
      run: (log: string[], given) => {
        log.push(given.email);
        return Promise.resolve(given);
      },
    }),
    'rates load': defineCommand({
      summary: 'loads rates',
      operands: ['FILE'],
      arguments: z.object({ FILE: z.string('is missing') }),
      run: (_log: string[], { FILE }) => Promise.reject(new Error(`The file ${FILE}\n  cannot be read.`)),
    }),
    'stock adjust': defineCommand({
      summary: 'changes the stock',
      operands: ['DELTA'],
      options: ['--reason <R>'],
      arguments: z.object({ DELTA: z.string('is missing'), reason: z.string().optional() }),
      run: (_log: string[], given) => Promise.resolve(given),
    }),
    audit: defineCommand({
      summary: 'shows the audit log',
      arguments: z.object({}),
      run: () => Promise.resolve({ events: [] }),
    }),
  };
  return {
    done,
    operators,
    recorded,
    connections: () => ({ opened, closed }),
    run: (args: readonly string[], input = '') =>
      runCli(
        {
          commands,
          standalone: {
            doctor: defineCommand({
              summary: 'examines the deployment',
              arguments: z.object({}),
              run: () => Promise.resolve({ status: 'ok' }),
            }),
          },
          environment,
          open: (operator) => {
            operators.push(operator);
            opened += 1;
            return Promise.resolve({
              context: done,
              runAudited: (command, work) => {
                recorded.push(command);
                return work();
              },
              close: () => {
                closed += 1;
                return Promise.resolve();
              },
            });
          },
        },
        args,
        () => Promise.resolve(input),
      ),
  };
}

describe('the operator program', () => {
  it('runs a standalone command without an operator, a record and connections', async () => {
    const { run, connections, recorded } = program({ BASE_URL: 'https://suite.example' });
    expect(await run(['doctor'])).toEqual({ ok: true, line: '{"status":"ok"}' });
    expect(await run(['doctor', '--as', 'ann'])).toEqual({ ok: true, line: '{"status":"ok"}' });
    expect((await run(['doctor', 'x'])).ok).toBe(false);
    const empty = program({ BASE_URL: 'https://suite.example', OPERATOR: '' });
    expect((await empty.run(['doctor'])).ok).toBe(true);
    expect((await run(['--help'])).line).toContain('examines the deployment');
    expect([connections(), recorded]).toEqual([{ opened: 0, closed: 0 }, []]);
  });

  it('prints one JSON object, and closes its connections', async () => {
    const { run, connections } = program();
    const flags = ['--email', 'a@b.example', '--redirect-uri', 'https://a', '--redirect-uri', 'https://b'];
    const { ok, line } = await run(['user', 'create', ...flags, '--confidential', '--json']);
    expect(ok).toBe(true);
    expect(JSON.parse(line)).toEqual({
      email: 'a@b.example',
      'redirect-uri': ['https://a', 'https://b'],
      confidential: true,
    });
    expect(connections()).toEqual({ opened: 1, closed: 1 });
  });

  it.each([[[]], [['--help']], [['user', '-h']]])(
    'lists all commands for %j, and opens no connection',
    async (args) => {
      const { run, connections } = program();
      const { ok, line } = await run(args);
      expect(ok).toBe(true);
      for (const usage of [
        'user create --email E [--redirect-uri U...] [--confidential]',
        'rates load FILE',
        'stock adjust DELTA [--reason R]',
      ])
        expect(line).toContain(`  ${usage}\n`);
      expect(connections().opened).toBe(0);
    },
  );

  it('describes a command and its options for --help, under the name that it was started with', async () => {
    const { ok, line } = await program({ CLI_PROGRAM: 'ops --' }).run(['user', 'create', '--help']);
    expect(ok).toBe(true);
    expect(line).toContain('Usage: ops -- user create --email E');
    expect(line).toContain('creates a user');
    expect(line).toMatch(/^ +--redirect-uri <U\.\.\.>/m);
  });

  it('accepts commands of one word', async () => {
    expect(await program().run(['audit', '--json'])).toEqual({ ok: true, line: '{"events":[]}' });
  });

  const usages: Readonly<Record<string, string>> = {
    user: 'user create --email E [--redirect-uri U...] [--confidential]',
    rates: 'rates load FILE',
    stock: 'stock adjust DELTA [--reason R]',
    audit: 'audit',
  };
  it.each([
    ['user create', '--email is missing.'],
    ['user create --email nobody', '--email must be an e-mail address.'],
    ['user create --email a@b --redirect-uri http://a', '--redirect-uri must be an https address.'],
    [
      'user create --email nobody --redirect-uri x',
      '--email must be an e-mail address. --redirect-uri must be an https address.',
    ],
    ['user create --email', '--email needs a value.'],
    ['user create --email --confidential', '--email needs a value.'],
    ['user create --email=', '--email must not be empty.'],
    ['user create --email a@b --confidential=yes', '--confidential takes no value.'],
    ['user create --nmae x', 'Unknown option --nmae.'],
    ['user create --constructor=x', 'Unknown option --constructor.'],
    ['user create -x', 'Unknown option -x.'],
    ['stock adjust 3 --reason=a --reason=b', '--reason must be given only once.'],
    ['stock adjust', 'DELTA is missing.'],
    ['rates load', 'FILE is missing.'],
    ['rates load a b', 'Too many arguments: "b".'],
    ['audit nonsense', 'Too many arguments: "nonsense".'],
  ])(
    'rejects "%s" in one line that names the invalid part, and opens no connection',
    async (typed, problem) => {
      const { run, connections } = program();
      const line = `${problem} Usage: node dist/cli.js ${usages[typed.split(' ')[0] ?? '']}`;
      expect(await run(typed.split(' '))).toEqual({ ok: false, line });
      expect(connections().opened).toBe(0);
    },
  );

  it('rejects an unknown command with the commands of its noun', async () => {
    const { line } = await program().run(['user', 'eat']);
    expect(line).toBe(
      'Unknown command "user eat". Commands of "user": create. All commands: node dist/cli.js --help',
    );
  });

  it.each([
    [['stock', 'adjust', '-3'], { DELTA: '-3' }],
    [['stock', 'adjust', '-3', '--reason=-x'], { DELTA: '-3', reason: '-x' }],
  ])('accepts the dashes in %j', async (args, given) => {
    const { line } = await program().run(args);
    expect(JSON.parse(line)).toEqual(given);
  });

  it('prints a failure in one line, and closes its connections', async () => {
    const { run, connections } = program();
    expect(await run(['rates', 'load', 'x.csv'])).toEqual({
      ok: false,
      line: 'The file x.csv cannot be read.',
    });
    expect(connections()).toEqual({ opened: 1, closed: 1 });
  });

  describe('with a batch', () => {
    const user = (email: string) => ['user', 'create', '--email', email];

    it('runs all commands over the same connections', async () => {
      const { run, connections, done } = program();
      const lines = [user('a@x'), user('b@x'), ['audit']];
      const { ok, line } = await run(['batch', '--json'], JSON.stringify(lines));
      expect(ok).toBe(true);
      expect(JSON.parse(line).results).toHaveLength(3);
      expect(done).toEqual(['a@x', 'b@x']);
      expect(connections()).toEqual({ opened: 1, closed: 1 });
    });

    it('stops at the first command that fails', async () => {
      const { run, connections, done } = program();
      const { ok } = await run(['batch'], JSON.stringify([user('a@x'), ['rates', 'load', 'x'], user('b@x')]));
      expect(ok).toBe(false);
      expect(done).toEqual(['a@x']);
      expect(connections()).toEqual({ opened: 1, closed: 1 });
    });

    it('runs nothing when a command is invalid or the input is no batch', async () => {
      const { run, connections } = program();
      expect(await run(['batch'], JSON.stringify([user('a@x'), user('nobody')]))).toEqual({
        ok: false,
        line: expect.stringContaining('--email must be an e-mail address.'),
      });
      expect((await run(['batch', 'x'], '[]')).line).toBe('Too many arguments: "x".');
      for (const input of ['', '{}', '[["a"], 5]'])
        expect(await run(['batch'], input)).toEqual({
          ok: false,
          line: 'The input of `batch` is not a JSON array of command lines, each an array of words.',
        });
      expect(connections().opened).toBe(0);
    });
  });
});

describe("the operator's name", () => {
  const production = { BASE_URL: 'https://suite.example' };

  it.each([
    ['--as', ['audit', '--as', 'bea'], { ...production, OPERATOR: 'ann' }, 'bea'],
    ['--as=', ['--as=bea', 'audit'], production, 'bea'],
    ['OPERATOR', ['audit'], { ...production, OPERATOR: 'ann' }, 'ann'],
  ])('comes from %s', async (_, args, environment, name) => {
    const { run, operators } = program(environment);
    expect((await run(args)).ok).toBe(true);
    expect(operators).toEqual([name]);
  });

  it('is required in production, before anything is opened', async () => {
    const { run, connections } = program(production);
    expect(await run(['audit'])).toEqual({ ok: false, line: expect.stringContaining('Use --as NAME') });
    expect(connections().opened).toBe(0);
  });

  it('is the account of the operating system where the suite is on this computer', async () => {
    const { run, operators } = program({ BASE_URL: 'https://localhost:8443' });
    await run(['audit']);
    expect(operators).toEqual([userInfo().username]);
  });

  it.each([
    [['audit', '--as']],
    [['audit', '--as', '']],
    [['audit', '--as', ' ']],
    [['audit', '--as', 'a\nb']],
    [['audit', '--as', '--json']],
  ])('is required after --as, and must be printable: %j', async (args) => {
    expect((await program().run(args)).line).toContain('The operator name');
  });
});

describe('the record of a command', () => {
  it('contains its words, operands and names of options, never their values', async () => {
    const { run, recorded } = program();
    await run(['user', 'create', '--email', 'a@b.example', '--confidential']);
    await run(['rates', 'load', 'rates.xml']);
    expect(recorded).toEqual([
      { name: 'user create', operands: [], options: ['email', 'confidential'] },
      { name: 'rates load', operands: ['rates.xml'], options: [] },
    ]);
    expect(JSON.stringify(recorded)).not.toContain('a@b.example');
  });
});
