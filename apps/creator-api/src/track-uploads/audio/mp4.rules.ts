import { type AacDecoder, aacDecoder } from './aac-decoder.rules.js';
import { AudioRefused, broken } from './audio-refused.js';
import type { ByteSource, Measured } from './byte-source.js';
import { type Boxes, boxesIn, find, numbers, textAt } from './mp4-boxes.rules.js';
import { heardSeconds } from './mp4-gapless.rules.js';

const mostMovieBytes = 32 * 1024 * 1024;
/** How far what a header says may be from what is held: encoders count their own delay differently. */
const toleratedSeconds = 1;

/**
 * An MPEG-4 file with AAC (ISO/IEC 14496-12), by its samples, every one of which must lie in the file with bytes of its own: each is a frame, and the
 * decoder says how long a frame lasts. The times that the tables give them must agree.
 * @throws AudioRefused
 */
export function measureMp4(file: ByteSource, start: number): Measured {
  const movie = boxesIn(movieOf(file, start));
  const track = soundOf(movie);
  const sound = mediaOf(track);
  if (codecOf(sound) !== 'mp4a')
    throw new AudioRefused('unsupported_codec', 'Only AAC audio is supported in MPEG-4 files.');
  const decoder = aacDecoder(decoderOf(sound));
  const { sampleRate, channels } = decoder;
  const { timescale, held } = soundHeld(file, sound, decoder);
  return { seconds: heardSeconds({ movie, track, timescale, sampleRate, held }), sampleRate, channels };
}

/** The track that holds it. */
function soundOf(movie: Boxes): Boxes {
  if (find(movie, 'mvex') !== undefined)
    throw new AudioRefused('unsupported_codec', 'Fragmented MPEG-4 files are not supported.');
  const tracks = movie.filter(({ type }) => type === 'trak').map(({ content }) => boxesIn(content));
  const ofKind = (kind: string) => tracks.filter((track) => textAt(find(mediaOf(track), 'hdlr'), 8) === kind);
  if (ofKind('vide').some((track) => !isPicture(mediaOf(track))))
    throw new AudioRefused('not_audio', 'The file is a video.');
  const [sound] = ofKind('soun');
  if (sound === undefined) throw new AudioRefused('not_audio', 'The file contains no audio.');
  return sound;
}

/** The one box that describes all; it may stand at the end of the file. */
function movieOf(file: ByteSource, start: number): Buffer {
  let movie: Buffer | undefined;
  for (let at = start; at < file.size;) {
    const head = file.bytes(at, 16);
    if (head.length < 8) break; // a few stray bytes
    const type = head.toString('latin1', 4, 8);
    const length = boxLength(head, file.size - at);
    if (length === undefined || length > file.size - at)
      return broken('The file is truncated: it is shorter than a box states.');
    if (type === 'moov') {
      if (length > mostMovieBytes) broken('The header is too large.');
      movie = Buffer.from(file.bytes(at, length)).subarray(8);
    }
    at += length;
  }
  return movie ?? broken('The file has no header, or is truncated before it.');
}

/** With its header; 1 means that 64 bits follow, 0 all that is left. Undefined when it makes no sense. */
function boxLength(head: Buffer, left: number): number | undefined {
  const length = head.readUInt32BE(0);
  if (length === 0) return left;
  if (length !== 1) return length >= 8 ? length : undefined;
  if (head.length < 16) return undefined;
  const long = Number(head.readBigUInt64BE(8));
  return long >= 16 ? long : undefined;
}

function mediaOf(track: Boxes): Boxes {
  return boxesIn(find(track, 'mdia') ?? Buffer.alloc(0));
}

function samplesOf(media: Boxes): Boxes {
  const information = boxesIn(find(media, 'minf') ?? Buffer.alloc(0));
  return boxesIn(find(information, 'stbl') ?? Buffer.alloc(0));
}

/** Of the first description: four bytes of version, four of count, four of length, then its name. */
function codecOf(media: Boxes): string {
  return textAt(find(samplesOf(media), 'stsd'), 12);
}

/** What stands in the elementary stream's descriptor, wherever the description has it: QuickTime puts other boxes around it. */
function decoderOf(media: Boxes): Buffer {
  const description = find(samplesOf(media), 'stsd') ?? Buffer.alloc(0);
  const at = description.indexOf('esds');
  return at < 0 ? broken('The file has no audio format description.') : description.subarray(at + 8); // behind its name and version
}

/** A cover or the pictures of chapters stand in a track, too. */
function isPicture(media: Boxes): boolean {
  return ['jpeg', 'png ', 'mjpg'].includes(codecOf(media));
}

/** How many seconds its samples are, heard or not. */
function soundHeld(
  file: ByteSource,
  media: Boxes,
  decoder: AacDecoder,
): { readonly timescale: number; readonly held: number } {
  const { timescale, claimed } = mediaHeader(find(media, 'mdhd'));
  const table = samplesOf(media);
  const durations = numbers(find(table, 'stts'), 4, 8);
  let samples = 0;
  let ticks = 0;
  for (let at = 0; at + 1 < durations.length; at += 2) {
    samples += durations[at] ?? 0;
    ticks += (durations[at] ?? 0) * (durations[at + 1] ?? 0);
  }
  const held = samplesHeld(file, table);
  const seconds = (held * decoder.samplesOfAFrame) / decoder.coreRate;
  const told = ticks / timescale;
  if (samples > held || Math.max(claimed, told) > seconds + toleratedSeconds)
    broken('The file contains less audio than its header states.');
  if (told < seconds - toleratedSeconds) broken('The file contains more audio than its header states.');
  return { timescale, held: seconds };
}

/** Version 1 has its times in 64 bits. */
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

/** How many samples lie in the file with all their bytes, none of which is counted twice. @throws AudioRefused when one does not */
function samplesHeld(file: ByteSource, table: Boxes): number {
  const [small, large] = [find(table, 'stco'), find(table, 'co64')];
  const offsets =
    small === undefined && large !== undefined
      ? longOffsets(numbers(large, 4, 8, 2))
      : numbers(small, 4, 8, 1);
  const sizes = find(table, 'stsz');
  const oneSize = sizes !== undefined && sizes.length >= 12 ? sizes.readUInt32BE(4) : 0;
  const sizeOf = oneSize > 0 ? undefined : numbers(sizes, 8, 12, 1);
  const runs = numbers(find(table, 'stsc'), 4, 8, 3);
  const total = sizes?.readUInt32BE(8) ?? 0;
  if (sizeOf?.includes(0) === true) broken('An audio sample is empty.');
  const [starts, ends]: [number[], number[]] = [[], []];
  let sample = 0;
  let run = 0; // of (first chunk, samples in each, description)
  for (const [index, offset] of offsets.entries()) {
    while ((runs[run + 3] ?? Infinity) <= index + 1) run += 3;
    const last = Math.min(sample + (runs[run + 1] ?? 0), total);
    let bytes = sizeOf === undefined ? oneSize * (last - sample) : 0;
    for (let at = sample; sizeOf !== undefined && at < last; at += 1) bytes += sizeOf[at] ?? 0;
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

/** Whether two of the ranges share a byte. When none do, each begins after all that begin before it have ended. */
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
