import type { UploadFailure, UploadFailureCode } from '../upload-failure.rules.js';

/** A file that is not taken, whatever is done with it again. */
export class AudioRefused extends Error {
  override readonly name = 'AudioRefused';
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

/** The file does not hold what it says it holds. */
export function broken(message: string): never {
  throw new AudioRefused('broken', message);
}
