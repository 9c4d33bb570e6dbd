import { eventually } from '@fulfilment/testing';
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const scriptTimeoutMs = 120_000;

/** A terminal in a folder of its own, where code of the documentation runs as a reader would run it. */
export class ShellSession {
  private readonly bash: ChildProcess;
  private readonly ended: Promise<void>;
  private hasEnded = false;
  private printed = '';
  private scriptCount = 0;

  constructor(
    private readonly directory: string,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
    this.bash = spawn('bash', ['-eu', '-o', 'pipefail'], {
      cwd: directory,
      env: { ...process.env, ...environment, PATH: path },
      detached: true, // a process group, with the programs in its background
    });
    for (const stream of [this.bash.stdout, this.bash.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.printed += text));
    this.ended = new Promise((resolve) => {
      this.bash.once('exit', () => {
        this.hasEnded = true;
        resolve();
      });
    });
  }

  /** Everything that was printed. */
  readonly output = (): string => this.printed;

  /** Runs a script. @throws if one of its commands fails */
  async run(script: string): Promise<void> {
    this.scriptCount += 1;
    const name = `.script-${this.scriptCount}.sh`;
    const end = `[end of script ${this.scriptCount}]`;
    writeFileSync(join(this.directory, name), script);
    this.bash.stdin?.write(`. ./${name} </dev/null\necho '${end}'\n`);
    await eventually(() => this.printed.includes(end) || this.hasEnded, {
      timeoutMs: scriptTimeoutMs,
      describe: this.output,
    });
    if (!this.printed.includes(end))
      throw new Error(`A command failed:\n${script}\nThe session printed:\n${this.printed}`);
  }

  async stop(): Promise<void> {
    if (this.bash.pid !== undefined) {
      try {
        process.kill(-this.bash.pid, 'SIGKILL');
      } catch {
        // every process of the group has ended
      }
    }
    await this.ended;
  }
}
