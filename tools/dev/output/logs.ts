import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { eachLine } from '../run-program.ts';

const maxBytes = 20 * 1024 * 1024;

/** Log files of all parts, one each in `logs/`. */
export class LogFiles {
  readonly dir: string;
  private readonly streams = new Map<string, WriteStream>();

  constructor(stateDir: string) {
    this.dir = join(stateDir, 'logs');
    mkdirSync(this.dir, { recursive: true });
  }

  /** Path of the log of a part. */
  file(name: string): string {
    return join(this.dir, `${name}.log`);
  }

  write(name: string, line: string): void {
    const stream = this.streams.get(name) ?? this.open(name);
    stream.write(`${line}\n`);
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.streams.values()].map((stream) => new Promise<void>((done) => stream.end(done))),
    );
    this.streams.clear();
  }

  /** Opens the log of a part. Renames a large log of earlier starts to `.1`. */
  private open(name: string): WriteStream {
    const file = this.file(name);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxBytes) renameSync(file, `${file}.1`);
    const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
    stream.on('error', () => undefined); // the suite keeps running if its directory is removed or full
    this.streams.set(name, stream);
    return stream;
  }
}

/** Calls back with each line that is appended to a file: nginx cannot write its access log to a pipe. */
export function followFile(file: string, onLine: (line: string) => void): { stop: () => void } {
  // Detached, since Ctrl-C would end it before the last requests of the graceful stop.
  const tail = spawn('tail', ['-n', '0', '-F', file], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  tail.once('error', () => undefined); // if `tail` is not installed, only these lines are missing
  eachLine(tail.stdout, onLine);
  process.once('exit', () => tail.kill());
  return { stop: () => tail.kill() };
}
