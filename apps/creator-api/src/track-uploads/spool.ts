import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ownName = /^track-upload-[0-9a-f-]{36}$/;
const leftBehindAfterMs = 60_000;

/** A file that is being filled, then read, by its descriptor. */
export interface SpoolFile {
  readonly fd: number;
  /** How many bytes were written. */
  readonly size: number;
  append(bytes: Uint8Array): Promise<void>;
  /** Its room on the disk is free when this resolves. */
  close(): Promise<void>;
}

/**
 * Room on the disk for audio that is being read. A file loses its name as soon as it is open, so that the system frees it
 * with the process, however that ends.
 */
export class Spool {
  private readonly directory: string;

  constructor(directory = join(tmpdir(), 'fulfilment-track-uploads')) {
    this.directory = directory;
  }

  async open(): Promise<SpoolFile> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const path = join(this.directory, `track-upload-${randomUUID()}`);
    const handle = await open(path, 'wx+', 0o600);
    await rm(path);
    let size = 0;
    return {
      fd: handle.fd,
      get size() {
        return size;
      },
      append: async (bytes) => {
        const at = size;
        size += bytes.length;
        for (let written = 0; written < bytes.length;) {
          const left = bytes.length - written;
          written += (await handle.write(bytes, written, left, at + written)).bytesWritten;
        }
      },
      close: () => handle.close(),
    };
  }

  /** Removes what a death between the two lines above may have left: empty files. */
  async tidy(now: Date): Promise<void> {
    const names = await readdir(this.directory).catch(() => []);
    for (const name of names.filter((each) => ownName.test(each))) {
      const path = join(this.directory, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
      if (now.getTime() - mtimeMs > leftBehindAfterMs) await rm(path, { force: true });
    }
  }
}
