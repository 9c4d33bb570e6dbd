/** Why a track upload failed, for programs. */
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
  /** For people; never an address, never what a file or a server said. */
  readonly message: string;
}

/** What went wrong in one run. */
export interface UploadProblem extends UploadFailure {
  /** Whether another run may do better. */
  readonly mayPass: boolean;
}

export function forGood(code: UploadFailureCode, message: string): UploadProblem {
  return { code, message, mayPass: false };
}

export function forNow(code: UploadFailureCode, message: string): UploadProblem {
  return { code, message, mayPass: true };
}
