import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../dev/settings.ts';

const read = (file: string): string => readFileSync(join(root, 'docs', file), 'utf8');
const runbook = read('runbook.md');

/** The first words of each command, such as `dead-letters list`. */
const commands = new Set(
  [...read('operator.md').matchAll(/^\| `([a-z][^`]*)`/gm)].map(([, usage = '']) => wordsOf(usage)),
);

/** The words of a command before its operands and options. */
function wordsOf(usage: string): string {
  return /^[a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*)?/.exec(usage)?.[0] ?? usage;
}

describe('the runbook', () => {
  it('names only operator commands that exist', () => {
    // `ops order …` names a group of commands, not one of them.
    const named = [...runbook.matchAll(/(?:\bops (?:-- )?|\bcli\.js )([a-z][a-z -]*[a-z])\b(?! …)/g)].map(
      ([, usage = '']) => wordsOf(usage),
    );
    const commandsOfEveryService = ['doctor', 'operator-audit', 'audit'];
    expect(named.length).toBeGreaterThan(40); // fewer: the pattern no longer matches
    const known = new Set([...commands, ...commandsOfEveryService]);
    expect(named.filter((command) => !known.has(command))).toEqual([]);
  });

  it('has a row for every secret of the configuration in "Rotate a secret"', () => {
    const secrets = [...read('reference/configuration.md').matchAll(/^\| `(\w+)` .*\(secret\) \|$/gm)];
    const [, section = ''] = runbook.split('### Rotate a secret\n');
    const rows =
      section
        .split('\n## ')[0]
        ?.match(/^\| .*$/gm)
        ?.join('\n') ?? '';
    expect(secrets.length).toBeGreaterThan(10); // fewer: the pattern no longer matches
    expect(secrets.map(([, name = '']) => name).filter((name) => !rows.includes(`\`${name}\``))).toEqual([]);
  });
});
