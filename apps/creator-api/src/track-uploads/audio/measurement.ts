/** The result of measuring a file. */
export interface Measurement {
  /** Number of audible samples of each channel. */
  readonly samples: number;
  /** Codec, channels and sample rate are undefined if music-metadata reports them correctly. */
  readonly codec?: string;
  readonly channels?: number | undefined;
  readonly sampleRate?: number;
}
