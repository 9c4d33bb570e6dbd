import { maxTrackSeconds } from '@fulfilment/contracts';
import { isNativeError } from 'node:util/types';
import { type IAudioMetadata, parseFromTokenizer } from 'music-metadata';
import { fromFile } from 'strtok3';
import { measureAdts } from './adts.rules.js';
import { measureAiff } from './aiff.rules.js';
import { type AudioFacts, audioFacts } from './audio-facts.js';
import { AudioRefused, broken } from './audio-refused.js';
import { type ByteSource, FileBytes, type Measured } from './byte-source.js';
import { type FileKind, kindOfFile } from './file-kind.rules.js';
import { measureFlac } from './flac.rules.js';
import { measureMp4 } from './mp4.rules.js';
import { measureMp3 } from './mpeg.rules.js';
import { type TrackTags, trackTags } from './track-tags.rules.js';
import { measureWave } from './wave.rules.js';

const leastSeconds = 10;
/** Tags with pictures are read as a whole; the heap's bound does not count such memory. */
const mostTagBytes = 64 * 1024 * 1024;

/** Each counts what the file really holds, and throws AudioRefused when it is not whole. */
const measures: Readonly<Record<FileKind, (file: ByteSource, start: number) => Measured>> = {
  WAV: measureWave,
  AIFF: measureAiff,
  FLAC: measureFlac,
  MP3: measureMp3,
  AAC: measureAdts,
  M4A: measureMp4,
};

/** By which music-metadata chooses its parser. */
const mediaTypes: Readonly<Record<FileKind, string>> = {
  WAV: 'audio/wav',
  AIFF: 'audio/aiff',
  FLAC: 'audio/flac',
  MP3: 'audio/mpeg',
  AAC: 'audio/aac',
  M4A: 'audio/mp4',
};

/** Of the others a container may tell one, which its codec does not have. */
const withBitDepth: ReadonlySet<FileKind> = new Set(['WAV', 'AIFF', 'FLAC']);

export interface DescribedAudio extends TrackTags {
  readonly audio: AudioFacts;
}

/**
 * Reads an open file: first whether it is audio and whole, which music-metadata does not say (it believes headers), then what it is and what
 * its tags say. Waits for the disk: for a thread of its own.
 * @throws AudioRefused
 */
export async function describeAudio(fd: number, size: number): Promise<DescribedAudio> {
  const file = new FileBytes(fd, size);
  const { kind, seconds: counted, ...measured } = measure(file);
  const microseconds = Math.round(counted * 1_000_000); // 10 s is 10 s, however it was reckoned
  const seconds = microseconds / 1_000_000;
  if (seconds < leastSeconds)
    throw new AudioRefused(
      'too_short',
      `The track lasts ${Math.floor(seconds * 100) / 100} s; the minimum is ${leastSeconds} s.`,
    );
  if (seconds > maxTrackSeconds) broken(`The track lasts more than ${maxTrackSeconds / 3600} hours.`);
  const { format, common } = await metadataOf(fd, kind);
  const gain = finite(common.replaygain_track_gain?.dB ?? format.trackGain);
  const peak = finite(common.replaygain_track_peak?.ratio ?? format.trackPeakLevel);
  const audio = audioFacts.safeParse({
    container: kind,
    codec: measured.codec ?? format.codec,
    sample_rate: Math.round(measured.sampleRate),
    bit_depth: (withBitDepth.has(kind) ? format.bitsPerSample : undefined) ?? null,
    channels: measured.channels ?? format.numberOfChannels ?? null,
    duration_seconds: Math.floor(microseconds / 1000) / 1000,
    loudness: gain === null ? null : { track_gain_db: gain, track_peak: peak },
  });
  if (!audio.success) return broken('The audio format of the file is invalid.');
  return { audio: audio.data, ...trackTags(common.title, common.track.no) };
}

function measure(file: ByteSource): Measured & { readonly kind: FileKind } {
  const found = kindOfFile(file);
  if (found === undefined)
    throw new AudioRefused('not_audio', 'The file is not WAV, AIFF, FLAC, MP3, AAC or M4A audio.');
  try {
    return { kind: found.kind, ...measures[found.kind](file, found.start) };
  } catch (error) {
    // A header that ends where its fields do not. By name: Node's own errors are no instances of a test's RangeError.
    if (isNativeError(error) && error.name === 'RangeError')
      return broken('The file is truncated: it ends within a header.');
    throw error;
  }
}

/** The spooled file has no name, but the operating system has one for what is open. */
async function metadataOf(fd: number, kind: FileKind): Promise<IAudioMetadata> {
  const tokenizer = await fromFile(`/dev/fd/${fd}`, { maxBufferSize: mostTagBytes });
  tokenizer.fileInfo.mimeType = mediaTypes[kind]; // found out here: nothing is guessed again
  try {
    return await parseFromTokenizer(tokenizer, { duration: false, skipCovers: true });
  } catch {
    return broken('The audio format of the file cannot be parsed.');
  } finally {
    await tokenizer.close();
  }
}

/** Tags say `-inf`, too. */
function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
