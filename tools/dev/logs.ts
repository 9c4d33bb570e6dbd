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
import { LineSplitter } from './run-program.ts';

const mostBytes = 20 * 1024 * 1024;
const followEveryMs = 300;

/** All output of all parts, in full, one file each under `logs/`. */
export class LogFiles {
  readonly dir: string;
  private readonly streams = new Map<string, WriteStream>();

  constructor(stateDir: string) {
    this.dir = join(stateDir, 'logs');
    mkdirSync(this.dir, { recursive: true });
  }

  /** Path of a part's log; a long one of earlier starts is put aside as `.1`. */
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

  private open(name: string): WriteStream {
    const file = this.file(name);
    if (sizeOf(file) > mostBytes) renameSync(file, `${file}.1`);
    const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
    stream.on('error', () => undefined); // a suite whose directory was removed or is full goes on to its end
    this.streams.set(name, stream);
    return stream;
  }
}

/** Calls back with each line that is added to a file from now on; nginx cannot write its access log to a pipe of ours. */
export function followFile(file: string, onLine: (line: string) => void): { stop: () => void } {
  const lines = new LineSplitter(onLine);
  const place = { at: sizeOf(file), reading: false };
  const timer = setInterval(() => {
    const size = sizeOf(file);
    if (size < place.at) place.at = 0;
    if (size === place.at || place.reading) return;
    place.reading = true;
    const added = createReadStream(file, { start: place.at, end: size - 1, encoding: 'utf8' });
    place.at = size;
    added.on('data', (chunk) => lines.push(String(chunk)));
    added.once('close', () => (place.reading = false));
    added.once('error', () => (place.reading = false));
  }, followEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}
