import { maxTrackSeconds } from '@fulfilment/contracts';
import { z } from 'zod';

/** What a file of audio is, as the status of its upload tells it and the database keeps it. */
export const audioFacts = z.object({
  container: z.string().describe('WAV, AIFF, FLAC, MP3, AAC (ADTS) or M4A'),
  codec: z.string().describe('Such as `PCM` or `MPEG 1 Layer 3`'),
  // From telephones to the fastest converters. A header that says another stretches or shrinks the duration.
  sample_rate: z.int().min(8_000).max(768_000).describe('Samples a second'),
  bit_depth: z
    .int()
    .min(1)
    .nullable()
    .describe('Bits a sample; null where the codec has none, as MP3 and AAC'),
  channels: z.int().min(1).nullable().describe('How many; null when not told'),
  duration_seconds: z
    .number()
    .min(0)
    .max(maxTrackSeconds)
    .describe(
      'Of what is heard, counted in the file, to the millisecond: without what the encoder added before and behind, where the file tells',
    ),
  loudness: z
    .object({
      track_gain_db: z.number().describe('What a player adds to reach the reference loudness, in dB'),
      track_peak: z.number().nullable().describe('The loudest sample, 1 is full scale; null when not told'),
    })
    .nullable()
    .describe("As the file's ReplayGain says; null when it does not. Nothing is measured"),
});
export type AudioFacts = z.infer<typeof audioFacts>;
