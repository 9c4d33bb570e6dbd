import { type AacDecoder, aacDecoder } from './aac-decoder.rules.js';
import { InvalidAudio, broken } from './invalid-audio.js';
import type { ByteSource, Measured } from './byte-source.js';
import { type Boxes, boxesIn, find, numbers, textAt } from './mp4-boxes.rules.js';
import { audibleSeconds } from './mp4-audible-seconds.rules.js';

const maxMovieBytes = 32 * 1024 * 1024;
/** Tolerated difference between header and content: encoders count their delay differently. */
const toleratedSeconds = 1;

/**
 * Measures an MPEG-4 file with AAC (ISO/IEC 14496-12) by its samples. Every sample must lie in the file and
 * share no byte with another. Each sample is a frame, whose duration follows from the decoder configuration.
 * The durations in the tables must agree.
 * @throws InvalidAudio
 */
export function measureMp4(file: ByteSource, start: number): Measured {
  const movie = boxesIn(readMovie(file, start));
  const track = soundTrack(movie);
  const sound = mediaBoxes(track);
  if (codecName(sound) !== 'mp4a')
    throw new InvalidAudio('unsupported_codec', 'Only AAC audio is supported in MPEG-4 files.');
  const decoder = aacDecoder(decoderDescriptor(sound));
  const { sampleRate, channels } = decoder;
  const { timescale, totalSeconds } = measureSamples(file, sound, decoder);
  return {
    seconds: audibleSeconds({ movie, track, timescale, sampleRate, totalSeconds }),
    sampleRate,
    channels,
  };
}

/** Returns the boxes of the first sound track. */
function soundTrack(movie: Boxes): Boxes {
  if (find(movie, 'mvex') !== undefined)
    throw new InvalidAudio('unsupported_codec', 'Fragmented MPEG-4 files are not supported.');
  const tracks = movie.filter(({ type }) => type === 'trak').map(({ content }) => boxesIn(content));
  const tracksWithHandler = (kind: string) =>
    tracks.filter((track) => textAt(find(mediaBoxes(track), 'hdlr'), 8) === kind);
  if (tracksWithHandler('vide').some((track) => !isPicture(mediaBoxes(track))))
    throw new InvalidAudio('not_audio', 'The file is a video.');
  const [sound] = tracksWithHandler('soun');
  if (sound === undefined) throw new InvalidAudio('not_audio', 'The file contains no audio.');
  return sound;
}

/** Returns the `moov` box, which describes all tracks and may be at the end of the file. */
function readMovie(file: ByteSource, start: number): Buffer {
  let movie: Buffer | undefined;
  for (let at = start; at < file.size;) {
    const head = file.bytes(at, 16);
    if (head.length < 8) break; // a few stray bytes
    const type = head.toString('latin1', 4, 8);
    const length = boxLength(head, file.size - at);
    if (length === undefined || length > file.size - at)
      return broken('The file is truncated: it is shorter than a box states.');
    if (type === 'moov') {
      if (length > maxMovieBytes) broken('The header is too large.');
      movie = Buffer.from(file.bytes(at, length)).subarray(8);
    }
    at += length;
  }
  return movie ?? broken('The file has no header, or is truncated before it.');
}

/** Length including the header. 1 means that 64 bits follow, 0 means to the end. Undefined if invalid. */
function boxLength(head: Buffer, left: number): number | undefined {
  const length = head.readUInt32BE(0);
  if (length === 0) return left;
  if (length !== 1) return length >= 8 ? length : undefined;
  if (head.length < 16) return undefined;
  const long = Number(head.readBigUInt64BE(8));
  return long >= 16 ? long : undefined;
}

function mediaBoxes(track: Boxes): Boxes {
  return boxesIn(find(track, 'mdia') ?? Buffer.alloc(0));
}

function sampleTable(media: Boxes): Boxes {
  const information = boxesIn(find(media, 'minf') ?? Buffer.alloc(0));
  return boxesIn(find(information, 'stbl') ?? Buffer.alloc(0));
}

/** Codec name of the first description, after four bytes each of version, count and length. */
function codecName(media: Boxes): string {
  return textAt(find(sampleTable(media), 'stsd'), 12);
}

/** Content of the `esds` box, at any depth, since QuickTime nests it in other boxes. */
function decoderDescriptor(media: Boxes): Buffer {
  const description = find(sampleTable(media), 'stsd') ?? Buffer.alloc(0);
  const at = description.indexOf('esds');
  return at < 0 ? broken('The file has no audio format description.') : description.subarray(at + 8);
}

/** Covers and chapter pictures are also stored as video tracks. */
function isPicture(media: Boxes): boolean {
  return ['jpeg', 'png ', 'mjpg'].includes(codecName(media));
}

/** Returns the duration of all samples, audible or not. */
function measureSamples(
  file: ByteSource,
  media: Boxes,
  decoder: AacDecoder,
): { readonly timescale: number; readonly totalSeconds: number } {
  const { timescale, claimed } = mediaHeader(find(media, 'mdhd'));
  const table = sampleTable(media);
  const durations = numbers(find(table, 'stts'), 4, 8);
  let samples = 0;
  let ticks = 0;
  for (let at = 0; at + 1 < durations.length; at += 2) {
    samples += durations[at] ?? 0;
    ticks += (durations[at] ?? 0) * (durations[at + 1] ?? 0);
  }
  const sampleCount = countSamples(file, table);
  const seconds = (sampleCount * decoder.samplesPerFrame) / decoder.coreRate;
  const declaredSeconds = ticks / timescale;
  if (samples > sampleCount || Math.max(claimed, declaredSeconds) > seconds + toleratedSeconds)
    broken('The file contains less audio than its header states.');
  if (declaredSeconds < seconds - toleratedSeconds)
    broken('The file contains more audio than its header states.');
  return { timescale, totalSeconds: seconds };
}

/** Version 1 uses 64 bits for times. */
function mediaHeader(content: Buffer | undefined): { timescale: number; claimed: number } {
  const long = content?.[0] === 1;
  if (content === undefined || content.length < (long ? 36 : 24))
    return broken('The file has no audio format description.');
  const timescale = content.readUInt32BE(long ? 20 : 12);
  if (timescale === 0) broken('The audio format is invalid.');
  const ticks = long ? Number(content.readBigUInt64BE(24)) : content.readUInt32BE(16);
  const unknown = long ? 2 ** 64 : 2 ** 32 - 1;
  return { timescale, claimed: ticks >= unknown ? 0 : ticks / timescale };
}

/**
 * Counts the samples.
 * @throws InvalidAudio when one is not completely in the file, or shares bytes with another
 */
function countSamples(file: ByteSource, table: Boxes): number {
  const [small, large] = [find(table, 'stco'), find(table, 'co64')];
  const offsets =
    small === undefined && large !== undefined
      ? longOffsets(numbers(large, 4, 8, 2))
      : numbers(small, 4, 8, 1);
  const sizeBox = find(table, 'stsz');
  const uniformSize = sizeBox !== undefined && sizeBox.length >= 12 ? sizeBox.readUInt32BE(4) : 0;
  const sizes = uniformSize > 0 ? undefined : numbers(sizeBox, 8, 12, 1);
  const runs = numbers(find(table, 'stsc'), 4, 8, 3);
  const total = sizeBox?.readUInt32BE(8) ?? 0;
  if (sizes?.includes(0) === true) broken('An audio sample is empty.');
  const [starts, ends]: [number[], number[]] = [[], []];
  let sample = 0;
  let run = 0; // index of (first chunk, samples per chunk, description)
  for (const [index, offset] of offsets.entries()) {
    while ((runs[run + 3] ?? Infinity) <= index + 1) run += 3;
    const last = Math.min(sample + (runs[run + 1] ?? 0), total);
    let bytes = sizes === undefined ? uniformSize * (last - sample) : 0;
    for (let at = sample; sizes !== undefined && at < last; at += 1) bytes += sizes[at] ?? 0;
    if (offset + bytes > file.size) broken('The file is truncated: it ends before its last sample.');
    if (bytes > 0) {
      starts.push(offset);
      ends.push(offset + bytes);
    }
    sample = last;
  }
  if (overlap(starts, ends)) broken('Two parts of the audio overlap in the file.');
  return sample;
}

/** Whether two ranges overlap. If none do, each range starts after all earlier ranges have ended. */
function overlap(starts: readonly number[], ends: readonly number[]): boolean {
  const endsInOrder = Float64Array.from(ends).sort();
  return Float64Array.from(starts)
    .sort()
    .some((start, index) => start < (endsInOrder[index - 1] ?? 0));
}

function longOffsets(halves: readonly number[]): number[] {
  return Array.from(
    { length: halves.length / 2 },
    (_, index) => (halves[2 * index] ?? 0) * 2 ** 32 + (halves[2 * index + 1] ?? 0),
  );
}
