import { readSync } from 'node:fs';

/** Random access to the bytes of a file. */
export interface ByteSource {
  readonly size: number;
  /** Returns fewer bytes at the end of the file. The buffer is valid until the next call. */
  bytes(offset: number, length: number): Buffer;
}

/** The measured properties of a file. */
export interface Measured {
  readonly seconds: number;
  /** Samples per second, from which the seconds were calculated. AIFF allows fractions. */
  readonly sampleRate: number;
  /** Undefined where music-metadata reports it better. */
  readonly codec?: string;
  readonly channels?: number | undefined;
}

const windowBytes = 1024 * 1024;

/** Reads an open file in windows of 1 MiB. Reads synchronously, so use it in a worker thread. */
export class FileBytes implements ByteSource {
  private readonly window = Buffer.allocUnsafe(windowBytes);
  private windowAt = 0;
  private windowLength = 0;

  constructor(
    private readonly fd: number,
    readonly size: number,
  ) {}

  bytes(offset: number, length: number): Buffer {
    const requested = Math.max(0, Math.min(length, this.size - offset));
    if (requested > windowBytes) return this.read(Buffer.allocUnsafe(requested), offset);
    if (offset < this.windowAt || offset + requested > this.windowAt + this.windowLength) {
      this.windowAt = offset;
      this.windowLength = this.read(this.window, offset).length;
    }
    const start = offset - this.windowAt;
    return this.window.subarray(start, Math.min(start + requested, this.windowLength));
  }

  private read(into: Buffer, offset: number): Buffer {
    let filled = 0;
    while (filled < into.length) {
      const count = readSync(this.fd, into, filled, into.length - filled, offset + filled);
      if (count === 0) break;
      filled += count;
    }
    return into.subarray(0, filled);
  }
}
