import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { operatorIn } from './operator.js';

describe('the operator commands of a clone', () => {
  let clone: string;
  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'clone-'));
  });
  afterEach(() => rmSync(clone, { recursive: true }));

  it('run in the folder of the clone, whose path may be relative', async () => {
    mkdirSync(join(clone, 'tools'));
    const program = `import { writeFileSync } from 'node:fs'; writeFileSync('command', process.argv.slice(2).join(' '));`;
    writeFileSync(join(clone, 'tools', 'bin.mjs'), program);
    await operatorIn(relative(process.cwd(), clone))('order', 'ship');
    expect(readFileSync(join(clone, 'command'), 'utf8')).toBe('ops order ship --json');
  });

  it('are rejected at once if the folder is not a clone of the project', () => {
    expect(() => operatorIn(clone)).toThrow(`--clone: ${clone} is not a clone of the project.`);
  });
});
