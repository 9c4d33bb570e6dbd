import { maxTrackSeconds } from '@fulfilment/contracts';
import { isNativeError } from 'node:util/types';
import { type IAudioMetadata, parseFromTokenizer } from 'music-metadata';
import { fromFile } from 'strtok3';
import { measureAdts } from './measure-adts.js';
import { type AudioProperties, audioProperties } from './audio-properties.js';
import { InvalidAudio, throwBroken } from './invalid-audio.js';
import { ByteSource } from './byte-source.js';
import type { Measurement } from './measurement.js';
import { type AudioFormat, detectAudioFormat } from './detect-audio-format.js';
import { measureFlac } from './measure-flac.js';
import { measureMp4 } from './measure-mp4.js';
import { measureMp3 } from './measure-mp3.js';
import { type TrackTags, trackTags } from './track-tags.rules.js';
import { measureAiff, measureWave } from './measure-pcm.js';

const minSeconds = 10;
/** Limits the memory for tags with pictures, which are read as a whole, outside the heap of the thread. */
const maxTagBytes = 64 * 1024 * 1024;

interface FormatProperties {
  /** Counts the audible samples. @throws InvalidAudio if the file is incomplete */
  readonly measure: (file: ByteSource, start: number) => Measurement;
  /** music-metadata selects its parser by the media type. */
  readonly mediaType: string;
  /** A file may state a bit depth although its codec has none. */
  readonly hasBitDepth: boolean;
}
const formats: Readonly<Record<AudioFormat, FormatProperties>> = {
  WAV: { measure: measureWave, mediaType: 'audio/wav', hasBitDepth: true },
  AIFF: { measure: measureAiff, mediaType: 'audio/aiff', hasBitDepth: true },
  FLAC: { measure: measureFlac, mediaType: 'audio/flac', hasBitDepth: true },
  MP3: { measure: measureMp3, mediaType: 'audio/mpeg', hasBitDepth: false },
  AAC: { measure: measureAdts, mediaType: 'audio/aac', hasBitDepth: false },
  M4A: { measure: measureMp4, mediaType: 'audio/mp4', hasBitDepth: false },
};

export interface DescribedAudio extends TrackTags {
  readonly audio: AudioProperties;
}

/**
 * Analyses an open file. First verifies that it is complete, since music-metadata trusts the headers; then
 * reads its format and tags. Reads synchronously, so run it in a worker thread.
 * @throws InvalidAudio
 */
export async function describeAudio(fd: number, size: number): Promise<DescribedAudio> {
  const measured = measure(new ByteSource(fd, size));
  const { format, samples, codec, channels } = measured;
  const { format: metadata, common } = await parseMetadata(fd, format);
  const sampleRate = measured.sampleRate ?? metadata.sampleRate ?? 0;
  if (sampleRate === 0) throwBroken('The file does not state its sample rate.');
  // The samples of M4A are measured for the whole movie, which may be longer than its sound track.
  const soundTrackSeconds = format === 'M4A' ? metadata.duration : undefined;
  const milliseconds = validMilliseconds(Math.min(soundTrackSeconds ?? Infinity, samples / sampleRate));
  const gain = finiteOrNull(common.replaygain_track_gain?.dB ?? metadata.trackGain);
  const peak = finiteOrNull(common.replaygain_track_peak?.ratio ?? metadata.trackPeakLevel);
  const audio = audioProperties.safeParse({
    container: format,
    codec: codec ?? metadata.codec,
    sample_rate: Math.round(sampleRate),
    bit_depth: formats[format].hasBitDepth ? (metadata.bitsPerSample ?? null) : null,
    channels: channels ?? metadata.numberOfChannels ?? null,
    duration_seconds: milliseconds / 1000,
    loudness: gain === null ? null : { track_gain_db: gain, track_peak: peak },
  });
  if (!audio.success) throwBroken('The audio format of the file is invalid.');
  return { audio: audio.data, ...trackTags(common.title, common.track.no) };
}

/** Returns the duration in milliseconds, rounded down. @throws InvalidAudio if it is too short or too long */
function validMilliseconds(seconds: number): number {
  // Rounded to microseconds first, so that a floating-point error does not turn 10 s into 9.999 s.
  const milliseconds = Math.floor(Math.round(seconds * 1_000_000) / 1000);
  if (milliseconds < minSeconds * 1000)
    throw new InvalidAudio(
      'too_short',
      `The track lasts ${Math.floor(milliseconds / 10) / 100} s; the minimum is ${minSeconds} s.`,
    );
  if (milliseconds > maxTrackSeconds * 1000)
    throwBroken(`The track lasts more than ${maxTrackSeconds / 3600} hours.`);
  return milliseconds;
}

function measure(file: ByteSource): Measurement & { readonly format: AudioFormat } {
  const detected = detectAudioFormat(file);
  if (detected === undefined)
    throw new InvalidAudio('not_audio', 'The file is not WAV, AIFF, FLAC, MP3, AAC or M4A audio.');
  try {
    return { format: detected.format, ...formats[detected.format].measure(file, detected.start) };
  } catch (error) {
    // A truncated header. Compared by name, since in Jest `instanceof RangeError` is false for Node's errors.
    if (isNativeError(error) && error.name === 'RangeError')
      throwBroken('The file is truncated: it ends within a header.');
    throw error;
  }
}

/** The spooled file is unlinked, so it is opened by its descriptor. */
async function parseMetadata(fd: number, format: AudioFormat): Promise<IAudioMetadata> {
  const tokenizer = await fromFile(`/dev/fd/${fd}`, { maxBufferSize: maxTagBytes });
  tokenizer.fileInfo.mimeType = formats[format].mediaType;
  try {
    return await parseFromTokenizer(tokenizer, { duration: false, skipCovers: true });
  } catch {
    throwBroken('The audio format of the file cannot be parsed.');
  } finally {
    await tokenizer.close();
  }
}

/** Returns null for a missing value, and for `-inf`, which tags may contain. */
function finiteOrNull(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
