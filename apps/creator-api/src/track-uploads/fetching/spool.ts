import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const fileNamePattern = /^track-upload-[0-9a-f-]{36}$/;
/** A file of a running process is unlinked much earlier. */
const staleAfterMs = 60_000;

/** An unlinked file, which is written and then read by its descriptor. */
export interface SpoolFile {
  readonly fd: number;
  /** Number of bytes written. */
  readonly size: number;
  append(bytes: Uint8Array): Promise<void>;
  /** Closes the file, which frees its disk space. */
  close(): Promise<void>;
}

/**
 * Disk space for audio that is being analysed. Files are unlinked as soon as they are open, so the operating
 * system frees them when the process ends, even after a crash.
 */
export class Spool {
  constructor(private readonly directory = join(tmpdir(), 'fulfilment-track-uploads')) {}

  async open(): Promise<SpoolFile> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const path = join(this.directory, `track-upload-${randomUUID()}`);
    const handle = await open(path, 'wx+', 0o600);
    await rm(path, { force: true });
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

  /** Deletes files that a process left because it ended between creating and unlinking them. */
  async deleteStaleFiles(now: Date): Promise<void> {
    const names = await readdir(this.directory).catch(() => []);
    for (const name of names.filter((file) => fileNamePattern.test(file))) {
      const path = join(this.directory, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
      if (now.getTime() - mtimeMs > staleAfterMs) await rm(path, { force: true });
    }
  }
}
