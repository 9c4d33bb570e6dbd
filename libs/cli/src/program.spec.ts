import { execFileSync } from 'node:child_process';
import { createProgram } from './program.js';

async function run(line: string): Promise<{ output: string; error: unknown }> {
  const lines: string[] = [];
  const program = createProgram({
    terminal: { result: (text) => lines.push(text), note: (text) => lines.push(text) },
    environment: {},
    signal: new AbortController().signal,
    registerResend: () => undefined,
  });
  const error: unknown = await program.parseAsync(line.split(' '), { from: 'user' }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { output: lines.join('\n'), error };
}

describe('the command line', () => {
  it.each([
    ['lisen', 'Did you mean listen'],
    ['listen --from yesterday', 'Allowed choices are saved, now, oldest'],
    ['listen --forward-to localhost:3000', 'It must be a URL'],
    ['listen --name ../session', 'It must be 1 to 50 letters'],
    ['trigger', "missing required argument 'events'"],
    ['completion powershell', 'Allowed choices are bash, zsh, fish'],
  ])('rejects %s', async (line, reason) => {
    const { output, error } = await run(line);
    expect(output).toContain(reason);
    expect(error).toMatchObject({ exitCode: 1 });
  });

  it('rejects an unknown event before it sends a request for a known one', async () => {
    const { error } = await run('trigger order.created order.eaten --token t');
    expect(String(error)).toContain('Unknown event "order.eaten". All events: order.created');
  });

  it('documents the exit statuses', async () => {
    expect((await run('--help')).output).toContain('Exit statuses: 0 done, 1 failed, 2 invalid');
  });

  it('completes commands, their options and events in fish', async () => {
    const { output } = await run('completion fish');
    const lines = output.split('\n');
    const listen = lines.filter((line) => line.includes('__fish_seen_subcommand_from listen'));
    expect(lines).toContain(
      "complete -c fulfilment -n '__fish_use_subcommand' -f -a logout -d 'ends the session'",
    );
    expect(listen).toEqual([expect.stringMatching(/ -a '.*--forward-to .*order\.shipped .*'$/)]);
    expect(output).toContain("'__fish_seen_subcommand_from webhooks' -f -a apply -d 'creates and updates");
  });

  it.each([
    ['fulfilment li', 1, ['listen']],
    ['fulfilment listen --fo', 2, ['--forward-to']],
    ['fulfilment trigger order.s', 2, ['order.shipped']],
    ['fulfilment webhooks a', 2, ['apply']],
  ])('completes "%s" in bash', async (line, position, expected) => {
    const { output: script } = await run('completion bash');
    const words = line
      .split(' ')
      .map((word) => `'${word}'`)
      .join(' ');
    const program = `${script}\nCOMP_WORDS=(${words}) COMP_CWORD=${position}\n_fulfilment\necho "\${COMPREPLY[@]}"`;
    expect(execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split(' ')).toEqual(expected);
  });
});
