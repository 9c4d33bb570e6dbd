import type { UploadFailure, UploadFailureCode } from '../upload-failure.rules.js';

/** A file that is rejected permanently. */
export class InvalidAudio extends Error {
  override readonly name = 'InvalidAudio';
  constructor(
    readonly code: UploadFailureCode,
    message: string,
  ) {
    super(message);
  }

  get failure(): UploadFailure {
    return { code: this.code, message: this.message };
  }
}

/** Rejects a file as `broken`: it is truncated or damaged, or a value is out of range. */
export function throwBroken(message: string): never {
  throw new InvalidAudio('broken', message);
}
