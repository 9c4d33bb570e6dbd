import { z } from 'zod';
import { defineCommand } from './define-command.js';
import { runCli } from './run-cli.js';

/** A program whose commands record their effect, with a context that can be opened and closed. */
function program(environment: Readonly<Record<string, string>> = { OPERATOR: 'ann' }) {
  const done: string[] = [];
  const operators: string[] = [];
  const recorded: object[] = [];
  let opened = 0;
  let closed = 0;
  const commands = {
    'user create': defineCommand({
      flags: { email: 'text', 'redirect-uri': 'texts', confidential: 'alone' },
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
      operands: ['FILE'],
      arguments: z.object({ FILE: z.string('is missing') }),
      run: (_log: string[], { FILE }) => Promise.reject(new Error(`The file ${FILE}\n  cannot be read.`)),
    }),
    audit: defineCommand({ arguments: z.object({}), run: () => Promise.resolve({ events: [] }) }),
  };
  return {
    done,
    operators,
    recorded,
    counts: () => ({ opened, closed }),
    run: (args: readonly string[], input = '') =>
      runCli(
        {
          commands,
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
  it('prints one JSON object, and closes its connections', async () => {
    const { run, counts } = program();
    const flags = ['--email', 'a@b.example', '--redirect-uri', 'https://a', '--redirect-uri', 'https://b'];
    const { ok, line } = await run(['user', 'create', ...flags, '--confidential', '--json']);
    expect(ok).toBe(true);
    expect(JSON.parse(line)).toEqual({
      email: 'a@b.example',
      'redirect-uri': ['https://a', 'https://b'],
      confidential: true,
    });
    expect(counts()).toEqual({ opened: 1, closed: 1 });
  });

  it.each([[[]], [['--help']], [['user', 'create', '--help']]])(
    'lists its commands for %j, and opens no connection',
    async (args) => {
      const { run, counts } = program();
      const { ok, line } = await run(args);
      expect(ok).toBe(true);
      expect(line).toContain('user create [--email …] [--redirect-uri … (repeatable)] [--confidential]');
      expect(line).toContain('rates load FILE');
      expect(counts().opened).toBe(0);
    },
  );

  it('accepts commands of one word', async () => {
    expect(await program().run(['audit', '--json'])).toEqual({ ok: true, line: '{"events":[]}' });
  });

  it.each([
    ['user create', '--email is missing.'],
    ['user create --email nobody', '--email must be an e-mail address.'],
    ['user create --email a@b --redirect-uri http://a', '--redirect-uri must be an https address.'],
    [
      'user create --email nobody --redirect-uri x',
      '--email must be an e-mail address. --redirect-uri must be an https address.',
    ],
    ['rates load', 'FILE is missing.'],
    ['rates load a b', 'Too many arguments: "b".'],
    ['user eat', 'Unknown command "user eat". Commands: user create, rates load, audit.'],
  ])('rejects "%s" in one line that names it as typed, and opens no connection', async (typed, complaint) => {
    const { run, counts } = program();
    expect(await run(typed.split(' ').filter((word) => word !== ''))).toEqual({ ok: false, line: complaint });
    expect(counts().opened).toBe(0);
  });

  it.each(['user create --nmae x', 'user create --email', 'user create --email --confidential'])(
    'names the option in "%s"',
    async (typed) => {
      const { ok, line } = await program().run(typed.split(' '));
      expect(ok).toBe(false);
      expect(line).toMatch(/--(nmae|email)/);
      expect(line).not.toContain('\n');
    },
  );

  it('prints a failure in one line, and closes its connections', async () => {
    const { run, counts } = program();
    expect(await run(['rates', 'load', 'x.csv'])).toEqual({
      ok: false,
      line: 'The file x.csv cannot be read.',
    });
    expect(counts()).toEqual({ opened: 1, closed: 1 });
  });

  describe('with a batch', () => {
    const user = (email: string) => ['user', 'create', '--email', email];

    it('runs all commands over the same connections', async () => {
      const { run, counts, done } = program();
      const { ok, line } = await run(['batch'], JSON.stringify([user('a@x'), user('b@x'), ['audit']]));
      expect(ok).toBe(true);
      expect(JSON.parse(line).results).toHaveLength(3);
      expect(done).toEqual(['a@x', 'b@x']);
      expect(counts()).toEqual({ opened: 1, closed: 1 });
    });

    it('stops at the first command that fails', async () => {
      const { run, counts, done } = program();
      const { ok } = await run(['batch'], JSON.stringify([user('a@x'), ['rates', 'load', 'x'], user('b@x')]));
      expect(ok).toBe(false);
      expect(done).toEqual(['a@x']);
      expect(counts()).toEqual({ opened: 1, closed: 1 });
    });

    it('runs nothing when a line is invalid or the input is no batch', async () => {
      const { run, counts } = program();
      expect(await run(['batch'], JSON.stringify([user('a@x'), user('nobody')]))).toEqual({
        ok: false,
        line: '--email must be an e-mail address.',
      });
      for (const input of ['', '{}', '[["a"], 5]']) {
        const { ok, line } = await run(['batch'], input);
        expect(ok).toBe(false);
        expect(line).not.toContain('\n');
      }
      expect(counts().opened).toBe(0);
    });
  });
});

describe('the operator’s name', () => {
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
    const { run, counts } = program(production);
    expect(await run(['audit'])).toEqual({
      ok: false,
      line: expect.stringContaining('Use --as NAME'),
    });
    expect(counts().opened).toBe(0);
  });

  it('is the account of the operating system where the suite is on this computer', async () => {
    const { run, operators } = program({ BASE_URL: 'https://localhost:8443' });
    await run(['audit']);
    expect(operators).toEqual([expect.stringMatching(/^.+$/)]);
  });

  it.each([
    [['audit', '--as']],
    [['audit', '--as', '']],
    [['audit', '--as', 'a\nb']],
    [['audit', '--as', '--json']],
  ])('rejects %j', async (args) => {
    expect((await program().run(args)).ok).toBe(false);
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
