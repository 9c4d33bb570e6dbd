import { z } from 'zod';

/** What a file of audio is, as the status of its upload tells it and the database keeps it. */
export const audioFacts = z.object({
  /** WAV, AIFF, FLAC, MP3, AAC (ADTS) or M4A. */
  container: z.string(),
  /** Such as `PCM` or `MPEG 1 Layer 3`. */
  codec: z.string(),
  /** Samples a second. */
  sample_rate: z.int().min(1),
  /** Null where the codec has none, as MP3 and AAC. */
  bit_depth: z.int().min(1).nullable(),
  channels: z.int().min(1).nullable(),
  /** Counted in the file, in whole milliseconds; no header's word for it. */
  duration_seconds: z.number().min(0),
  /** As the file's ReplayGain says, when it does; nothing is measured. */
  loudness: z
    .object({
      /** What a player adds to reach the reference loudness, in dB. */
      track_gain_db: z.number(),
      /** The loudest sample, 1 is full scale; null when not told. */
      track_peak: z.number().nullable(),
    })
    .nullable(),
});
export type AudioFacts = z.infer<typeof audioFacts>;
