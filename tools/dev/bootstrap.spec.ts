import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/**
 * A fake npm that records each call, and installs the Node.js of this test. It takes 0.7 s, so that the other
 * commands wait for it.
 */
const slowNpm = `#!/bin/sh
echo installed >> installations
mkdir -p node_modules/.bin
sleep 0.7
ln -sf "${process.execPath}" node_modules/.bin/node
`;

describe('commands on a clone without node modules', () => {
  const clone = { dir: '' };
  beforeEach(() => {
    clone.dir = mkdtempSync(join(tmpdir(), 'clone-'));
    for (const folder of ['tools/dev', 'bin']) mkdirSync(join(clone.dir, folder), { recursive: true });
    copyFileSync(new URL('bootstrap.mjs', import.meta.url), join(clone.dir, 'tools/dev/bootstrap.mjs'));
    writeFileSync(join(clone.dir, 'package-lock.json'), '{}');
    writeFileSync(join(clone.dir, 'tools/say.ts'), `const text: string = 'It runs.';\nconsole.log(text);\n`);
    writeFileSync(
      join(clone.dir, 'tools/say.mjs'),
      `import { run } from './dev/bootstrap.mjs';\nawait run('tools/say.ts', { evenIfStale: process.env.STALE === '1' });\n`,
    );
    writeFileSync(join(clone.dir, 'bin/npm'), slowNpm, { mode: 0o755 });
  });
  afterEach(() => rmSync(clone.dir, { recursive: true, force: true }));

  async function command(env: Record<string, string> = {}): Promise<{ status: unknown; output: string }> {
    const child = spawn(process.execPath, [join(clone.dir, 'tools/say.mjs')], {
      env: { PATH: `${join(clone.dir, 'bin')}:${process.env.PATH ?? ''}`, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    return { status, output };
  }

  async function expectOneInstallation(): Promise<void> {
    // A command that can run with older modules, such as npm stop, must not run during an installation.
    const ended = await Promise.all([command(), command(), command({ STALE: '1' }), command()]);
    for (const { status, output } of ended) {
      expect(status).toBe(0);
      expect(output).toContain('It runs.');
    }
    expect(readFileSync(join(clone.dir, 'installations'), 'utf8')).toBe('installed\n');
    expect(existsSync(join(clone.dir, '.installing'))).toBe(false);
  }

  it('install the modules once, even if several start at the same time', expectOneInstallation);

  it('ignore the lock of a killed command', async () => {
    const unusedPid = 2 ** 30; // more than Linux and macOS assign
    writeFileSync(join(clone.dir, '.installing'), String(unusedPid));
    await expectOneInstallation();
  });
});
