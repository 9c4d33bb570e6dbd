/** Machine-readable codes of why a track upload failed. */
export const uploadFailureCodes = [
  'blocked_address',
  'broken',
  'compressed',
  'connection_failed',
  'dns_error',
  'empty',
  'http_error',
  'internal_error',
  'not_audio',
  'redirect_not_followed',
  'timeout',
  'tls_error',
  'too_large',
  'too_short',
  'too_slow',
  'unsupported_codec',
] as const;
export type UploadFailureCode = (typeof uploadFailureCodes)[number];

export interface UploadFailure {
  readonly code: UploadFailureCode;
  /** Human-readable. Contains no address, and no text from a file or a server. */
  readonly message: string;
}

/** The problem of one run. */
export interface UploadProblem extends UploadFailure {
  /** Whether another run may succeed. */
  readonly isTransient: boolean;
}

export function permanentProblem(code: UploadFailureCode, message: string): UploadProblem {
  return { code, message, isTransient: false };
}

export function transientProblem(code: UploadFailureCode, message: string): UploadProblem {
  return { code, message, isTransient: true };
}
