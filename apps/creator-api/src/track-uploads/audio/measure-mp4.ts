import { InvalidAudio, throwBroken } from './invalid-audio.js';
import type { ByteSource } from './byte-source.js';
import type { Measurement } from './measurement.js';

const maxMovieBytes = 32 * 1024 * 1024;
/** Limits the time for a file of many empty boxes, here and in music-metadata. Usual files have under 20. */
const maxBoxes = 10_000;
/** ISO/IEC 14496-1 table 5: MPEG-4 audio and the profiles of MPEG-2 AAC. A file may also contain MP3. */
const aacStreams: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68]);
/** ISO/IEC 14496-3 table 1.17: Main, LC, SSR, LTP, and with bandwidth extension SBR and PS. */
const aacTypes: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 29]);
/** ISO/IEC 14496-3 table 1.19; after 0, a list of channels follows. */
const channelsByConfiguration = [undefined, 1, 2, 3, 4, 5, 6, 8];
/** ISO/IEC 14496-3 table 1.18: the rates that the 16 bits of a sample entry cannot state. */
const highRates = [96_000, 88_200];

/**
 * Reads what music-metadata does not report of an MPEG-4 file (ISO/IEC 14496-12): the decoder configuration
 * and the audible samples. AAC encoders add priming samples and pad the last frame. With an edit list, the
 * duration of the movie excludes the added samples; without an edit list, iTunes' tag may state their number.
 * @throws InvalidAudio; RangeError when the movie header is truncated
 */
export function measureMp4(file: ByteSource, start: number): Measurement {
  const movie = readMovie(file, start);
  const text = movie.toString('latin1');
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  // Covers and chapter pictures are also stored as video tracks.
  if (count(/hdlr[^]{8}vide/g) > count(/stsd[^]{12}(?:jpeg|png |mjpg)/g))
    throw new InvalidAudio('not_audio', 'The file is a video.');
  if (count(/hdlr[^]{8}soun/g) === 0) throw new InvalidAudio('not_audio', 'The file contains no audio.');
  const descriptionOffset = text.search(/stsd[^]{12}mp4a/);
  const isFragmented = text.includes('mvex');
  if (descriptionOffset < 0 || isFragmented) return unsupportedCodec();
  const { channels, highRate } = readDecoder(movie.subarray(text.indexOf('esds')));
  const statedRate = movie.readUInt16BE(descriptionOffset + 44); // of the sample entry (§12.2.3)
  const rate = highRate || statedRate; // a rate of more than 16 bits is stated as 0, or cut
  const samples = movieSeconds(movie.subarray(text.indexOf('mvhd') + 4)) * rate;
  return {
    samples: text.includes('elst') ? samples : samples - gapSamples(text),
    channels,
    ...(highRate !== 0 && { sampleRate: highRate }),
  };
}

/** @param header content of the `mvhd` box (§8.2.2), which has longer times in version 1 */
function movieSeconds(header: Buffer): number {
  const [ticksPerSecond, ticks] =
    header[0] === 1
      ? [header.readUInt32BE(20), Number(header.readBigUInt64BE(24))]
      : [header.readUInt32BE(12), header.readUInt32BE(16)];
  return ticks / ticksPerSecond;
}

/**
 * `esds` box in hexadecimal (ISO/IEC 14496-1 §7.2.6): type and version of the box, then nested descriptors
 * with a tag and a length; all bytes of a length except the last are from 80 to ff. Descriptor 03 has an id
 * and flags, 04 the type of the stream (captured) and 12 more bytes; 05 begins with the decoder configuration
 * (captured).
 */
const decoderDescriptor =
  /^(?:..){8}03(?:[89a-f].)*(?:..){4}04(?:[89a-f].)*..(..)(?:..){12}05(?:[89a-f].)*..(....)/;

/** @param description bytes from the `esds` box on, which describes the decoder */
function readDecoder(description: Buffer) {
  const fields = decoderDescriptor.exec(description.toString('hex', 0, 100));
  if (fields === null) throwBroken('The file has no audio format description.');
  // ISO/IEC 14496-3 §1.6.2.1: 5 bits of object type, 4 of the rate, 4 of the channels.
  const [stream = 0, configuration = 0] = fields.slice(1).map((hex) => Number.parseInt(hex, 16));
  if (!aacStreams.has(stream) || !aacTypes.has(configuration >>> 11)) return unsupportedCodec();
  return {
    channels: channelsByConfiguration[(configuration >>> 3) & 15],
    highRate: highRates[(configuration >>> 7) & 15] ?? 0,
  };
}

/** Reads the samples before and after the sound from iTunes' tag `iTunSMPB`, where they are hexadecimal. */
function gapSamples(movie: string): number {
  const [, before, after] =
    /iTunSMPB[^]{4}data[^]{8} [0-9a-f]{8} ([0-9a-f]{8}) ([0-9a-f]{8}) /i.exec(movie) ?? [];
  return before === undefined || after === undefined
    ? 0
    : Number.parseInt(before, 16) + Number.parseInt(after, 16);
}

/** Returns the `moov` box, which describes all tracks and may be at the end of the file. */
function readMovie(file: ByteSource, start: number): Buffer {
  let movie: Buffer | undefined;
  let hasSamples = false;
  for (let offset = start, count = 0; offset + 8 <= file.size; count += 1) {
    if (count === maxBoxes) throwBroken('The file has too many boxes.');
    const head = file.bytes(offset, 16);
    const bytesToEnd = file.size - offset;
    const length = boxLength(head, bytesToEnd);
    if (length < 8 || length > bytesToEnd)
      throwBroken('The file is truncated: it is shorter than a box states.');
    const type = head.toString('latin1', 4, 8);
    if (type === 'moov') {
      if (length > maxMovieBytes) throwBroken('The header is too large.');
      movie ??= file.bytes(offset, length);
    }
    hasSamples ||= type === 'mdat';
    offset += length;
  }
  if (!hasSamples) throwBroken('The file has no sound, or is truncated before it.');
  return movie ?? throwBroken('The file has no header, or is truncated before it.');
}

/** @param head the first 16 bytes of a box */
function boxLength(head: Buffer, bytesToEnd: number): number {
  const stated = head.readUInt32BE(0);
  if (stated === 0) return bytesToEnd;
  return stated === 1 ? Number(head.readBigUInt64BE(8)) : stated;
}

function unsupportedCodec(): never {
  throw new InvalidAudio(
    'unsupported_codec',
    'MPEG-4 files must contain AAC or HE-AAC audio, not fragmented.',
  );
}
