import { eventually } from '@fulfilment/testing';
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A terminal with an empty folder, in which code of the documentation runs as a reader would run it. */
export class ShellSession {
  private readonly directory: string;
  private readonly bash: ChildProcess;
  private readonly ended: Promise<void>;
  private hasEnded = false;
  private text = '';
  private scripts = 0;

  constructor(directory: string, environment: Readonly<Record<string, string | undefined>>) {
    this.directory = directory;
    const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
    this.bash = spawn('bash', ['-eu', '-o', 'pipefail'], {
      cwd: directory,
      env: { ...process.env, ...environment, PATH: path },
      detached: true, // a process group, with the programs in its background
    });
    for (const stream of [this.bash.stdout, this.bash.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.text += text));
    this.ended = new Promise((resolve) => {
      this.bash.once('exit', () => {
        this.hasEnded = true;
        resolve();
      });
    });
  }

  /** Everything that was printed. */
  readonly output = (): string => this.text;

  /** Runs a script. @throws if one of its commands fails */
  async run(script: string): Promise<void> {
    this.scripts += 1;
    const name = `.script-${this.scripts}.sh`;
    const end = `[end of script ${this.scripts}]`;
    writeFileSync(join(this.directory, name), script);
    this.bash.stdin?.write(`. ./${name} </dev/null\necho '${end}'\n`);
    await eventually(() => this.text.includes(end) || this.hasEnded || undefined, 30_000, this.output);
    if (!this.text.includes(end))
      throw new Error(`A command failed:\n${script}\nThe session printed:\n${this.text}`);
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
