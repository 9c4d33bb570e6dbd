import { readSync } from 'node:fs';

/** A file's bytes by place. */
export interface ByteSource {
  readonly size: number;
  /** Fewer at the end of the file. Good until the next call. */
  bytes(offset: number, length: number): Buffer;
}

/** What a file holds, counted in it. */
export interface Measured {
  readonly seconds: number;
  /** Samples a second, by which the seconds were counted; AIFF has fractions. */
  readonly sampleRate: number;
  /** Where music-metadata does not know better. */
  readonly codec?: string;
  readonly channels?: number | undefined;
}

const windowBytes = 1024 * 1024;

/** Reads an open file a window at a time, and waits for the disk: for a thread of its own. */
export class FileBytes implements ByteSource {
  private readonly window = Buffer.allocUnsafe(windowBytes);
  private windowAt = 0;
  private windowLength = 0;

  constructor(
    private readonly fd: number,
    readonly size: number,
  ) {}

  bytes(offset: number, length: number): Buffer {
    const wanted = Math.max(0, Math.min(length, this.size - offset));
    if (wanted > windowBytes) return this.read(Buffer.allocUnsafe(wanted), offset);
    if (offset < this.windowAt || offset + wanted > this.windowAt + this.windowLength) {
      this.windowAt = offset;
      this.windowLength = this.read(this.window, offset).length;
    }
    const start = offset - this.windowAt;
    return this.window.subarray(start, Math.min(start + wanted, this.windowLength));
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
