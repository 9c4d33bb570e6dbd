import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  statSync,
  type WriteStream,
} from 'node:fs';
import { join } from 'node:path';
import { LineSplitter } from '../run-program.ts';

const maxBytes = 20 * 1024 * 1024;
const pollIntervalMs = 300;

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
    if (fileSize(file) > maxBytes) renameSync(file, `${file}.1`);
    const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
    stream.on('error', () => undefined); // the suite keeps running if its directory is removed or full
    this.streams.set(name, stream);
    return stream;
  }
}

/** Calls back with each line that is appended to a file: nginx cannot write its access log to a pipe. */
export function followFile(file: string, onLine: (line: string) => void): { stop: () => void } {
  const lines = new LineSplitter(onLine);
  let position = fileSize(file);
  let isReading = false;
  const timer = setInterval(() => {
    const size = fileSize(file);
    if (size < position) position = 0;
    if (size === position || isReading) return;
    isReading = true;
    const added = createReadStream(file, { start: position, end: size - 1, encoding: 'utf8' });
    position = size;
    added.on('data', (chunk) => lines.push(String(chunk)));
    added.once('close', () => (isReading = false));
    added.once('error', () => (isReading = false));
  }, pollIntervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

function fileSize(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}
