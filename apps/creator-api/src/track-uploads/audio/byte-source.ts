import { readSync } from 'node:fs';

const windowBytes = 1024 * 1024;

/** Reads an open file in windows of at least 1 MiB. Reads synchronously, so use it in a worker thread. */
export class ByteSource {
  private window = Buffer.alloc(0);
  private windowAt = 0;

  constructor(
    private readonly fd: number,
    readonly size: number,
  ) {}

  /** Returns fewer bytes at the end of the file. */
  bytes(offset: number, length: number): Buffer {
    const end = Math.min(offset + length, this.size);
    if (offset < this.windowAt || end > this.windowAt + this.window.length) {
      const window = Buffer.alloc(Math.max(0, Math.min(Math.max(length, windowBytes), this.size - offset)));
      this.window = window.subarray(0, readSync(this.fd, window, 0, window.length, offset));
      this.windowAt = offset;
    }
    const start = offset - this.windowAt;
    return this.window.subarray(start, Math.max(start, end - this.windowAt));
  }
}
