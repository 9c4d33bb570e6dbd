import { maxTrackSeconds } from '@fulfilment/contracts';
import { isNativeError } from 'node:util/types';
import { type IAudioMetadata, parseFromTokenizer } from 'music-metadata';
import { fromFile } from 'strtok3';
import { measureAdts } from './adts.rules.js';
import { type AudioFacts, audioFacts } from './audio-facts.js';
import { InvalidAudio, broken } from './invalid-audio.js';
import { ByteSource, type Measured } from './byte-source.js';
import { type FileKind, detectFileKind } from './file-kind.rules.js';
import { measureFlac } from './flac.rules.js';
import { measureMp4 } from './mp4.rules.js';
import { measureMp3 } from './mpeg.rules.js';
import { type TrackTags, trackTags } from './track-tags.rules.js';
import { measureAiff, measureWave } from './pcm.rules.js';

const minSeconds = 10;
/** Tags with pictures are read as a whole, in memory that the heap limit does not count. */
const maxTagBytes = 64 * 1024 * 1024;

/** Each function measures the actual content, and throws InvalidAudio if the file is incomplete. */
const measurers: Readonly<Record<FileKind, (file: ByteSource, start: number) => Measured>> = {
  WAV: measureWave,
  AIFF: measureAiff,
  FLAC: measureFlac,
  MP3: measureMp3,
  AAC: measureAdts,
  M4A: measureMp4,
};

/** music-metadata selects its parser by the media type. */
const mediaTypes: Readonly<Record<FileKind, string>> = {
  WAV: 'audio/wav',
  AIFF: 'audio/aiff',
  FLAC: 'audio/flac',
  MP3: 'audio/mpeg',
  AAC: 'audio/aac',
  M4A: 'audio/mp4',
};

/** Other containers may state a bit depth although their codecs have none. */
const withBitDepth: ReadonlySet<FileKind> = new Set(['WAV', 'AIFF', 'FLAC']);

export interface DescribedAudio extends TrackTags {
  readonly audio: AudioFacts;
}

/**
 * Analyses an open file. First verifies that it is complete, since music-metadata trusts the headers; then
 * reads its format and tags. Reads synchronously, so run it in a worker thread.
 * @throws InvalidAudio
 */
export async function describeAudio(fd: number, size: number): Promise<DescribedAudio> {
  const { kind, samples, codec, channels } = measure(new ByteSource(fd, size));
  const { format, common } = await parseMetadata(fd, kind);
  const stated = kind === 'M4A' ? format.duration : undefined; // of the sound track, not of the movie
  const seconds = Math.min(stated ?? Infinity, samples / (format.sampleRate ?? 0));
  // Rounding errors do not make 10 s shorter.
  const milliseconds = Math.floor(Math.round(seconds * 1_000_000) / 1000);
  if (milliseconds < minSeconds * 1000)
    throw new InvalidAudio(
      'too_short',
      `The track lasts ${Math.floor(milliseconds / 10) / 100} s; the minimum is ${minSeconds} s.`,
    );
  if (milliseconds > maxTrackSeconds * 1000)
    broken(`The track lasts more than ${maxTrackSeconds / 3600} hours.`);
  const gain = finite(common.replaygain_track_gain?.dB ?? format.trackGain);
  const peak = finite(common.replaygain_track_peak?.ratio ?? format.trackPeakLevel);
  const audio = audioFacts.safeParse({
    container: kind,
    codec: codec ?? format.codec,
    sample_rate: Math.round(format.sampleRate ?? 0),
    bit_depth: (withBitDepth.has(kind) ? format.bitsPerSample : undefined) ?? null,
    channels: channels ?? format.numberOfChannels ?? null,
    duration_seconds: milliseconds / 1000,
    loudness: gain === null ? null : { track_gain_db: gain, track_peak: peak },
  });
  if (!audio.success) return broken('The audio format of the file is invalid.');
  return { audio: audio.data, ...trackTags(common.title, common.track.no) };
}

function measure(file: ByteSource): Measured & { readonly kind: FileKind } {
  const detected = detectFileKind(file);
  if (detected === undefined)
    throw new InvalidAudio('not_audio', 'The file is not WAV, AIFF, FLAC, MP3, AAC or M4A audio.');
  try {
    return { kind: detected.kind, ...measurers[detected.kind](file, detected.start) };
  } catch (error) {
    // A truncated header. Compared by name, since Node's RangeError is not Jest's.
    if (isNativeError(error) && error.name === 'RangeError')
      return broken('The file is truncated: it ends within a header.');
    throw error;
  }
}

/** The spooled file is unlinked, so it is opened by its descriptor. */
async function parseMetadata(fd: number, kind: FileKind): Promise<IAudioMetadata> {
  const tokenizer = await fromFile(`/dev/fd/${fd}`, { maxBufferSize: maxTagBytes });
  tokenizer.fileInfo.mimeType = mediaTypes[kind]; // detected above, so it is not guessed again
  try {
    return await parseFromTokenizer(tokenizer, { duration: false, skipCovers: true });
  } catch {
    return broken('The audio format of the file cannot be parsed.');
  } finally {
    await tokenizer.close();
  }
}

/** Tags may contain `-inf`. */
function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
