import { maxTrackSeconds } from '@fulfilment/contracts';
import { z } from 'zod';

/** Properties of an audio file, as returned with its upload and stored in the database. */
export const audioProperties = z.object({
  container: z.string().describe('Container format: WAV, AIFF, FLAC, MP3, AAC (ADTS) or M4A'),
  codec: z.string().describe('Codec, such as `PCM` or `MPEG 1 Layer 3`'),
  // The rates of telephony and of the fastest converters. Outside this range, the rate must be wrong, and so
  // would be the duration that is calculated from it.
  sample_rate: z.int().min(8_000).max(768_000).describe('Samples per second'),
  bit_depth: z
    .int()
    .min(1)
    .nullable()
    .describe('Bits per sample; null for codecs without a bit depth, such as MP3 and AAC'),
  channels: z.int().min(1).nullable().describe('Number of channels; null if the file does not state it'),
  duration_seconds: z
    .number()
    .min(0)
    .max(maxTrackSeconds)
    .describe(
      'Audible duration, to the millisecond. The padding of the encoder is excluded if the file states it',
    ),
  loudness: z
    .object({
      track_gain_db: z.number().describe('Gain that a player applies to reach the reference loudness, in dB'),
      track_peak: z
        .number()
        .nullable()
        .describe('Peak sample value, where 1 is full scale; null if the file does not state it'),
    })
    .nullable()
    .describe('ReplayGain values of the file; null if it has none. The service does not measure loudness'),
});
export type AudioProperties = z.infer<typeof audioProperties>;
