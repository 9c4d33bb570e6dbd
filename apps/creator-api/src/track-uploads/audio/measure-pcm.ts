import { InvalidAudio, throwBroken } from './invalid-audio.js';
import type { ByteSource } from './byte-source.js';
import type { Measurement } from './measurement.js';

/** Limits the time for a file of many empty chunks, here and in music-metadata. Usual files have under 20. */
const maxChunks = 10_000;
const waveCodecs = new Map([
  [1, 'PCM'],
  [3, 'IEEE_FLOAT'],
]);
const extensibleTag = 0xfffe;
/** AIFF-C's names of uncompressed sample formats. */
const aiffIntegers = new Set(['NONE', 'twos', 'sowt', 'raw ', 'in24', 'in32']);
const aiffFloats = new Set(['fl32', 'FL32', 'fl64', 'FL64']);
/** In AIFF, an offset and a block size come before the sound. */
const soundHeaderBytes = 8;
/** Length of an extensible WAVE format. The fields of AIFF-C need 22 bytes. */
const maxFormatBytes = 40;

/** @throws InvalidAudio; RangeError when the format description is truncated */
export function measureWave(file: ByteSource, start: number): Measurement {
  const { format, soundBytes } = readChunks(file, start, { format: 'fmt ', sound: 'data' }, 'LE');
  const tag = format.readUInt16LE(0);
  // An extensible format has its codec in the first two bytes of the GUID SubFormat.
  const codec = waveCodecs.get(tag === extensibleTag ? format.readUInt16LE(24) : tag);
  if (codec === undefined)
    throw new InvalidAudio('unsupported_codec', 'WAV files must contain PCM or floating point audio.');
  const sampleFormat = {
    channels: format.readUInt16LE(2),
    frameBytes: format.readUInt16LE(12),
    bits: format.readUInt16LE(14),
  };
  return { samples: countFrames(soundBytes, sampleFormat), codec };
}

/** Measures AIFF or AIFF-C ("Audio Interchange File Format" 1.3). @throws InvalidAudio; RangeError */
export function measureAiff(file: ByteSource, start: number): Measurement {
  const isAiffC = file.bytes(start + 8, 4).toString('latin1') === 'AIFC';
  const { format, soundBytes } = readChunks(file, start, { format: 'COMM', sound: 'SSND' }, 'BE');
  const compression = isAiffC ? format.toString('latin1', 18, 22) : 'NONE';
  if (!aiffIntegers.has(compression) && !aiffFloats.has(compression))
    throw new InvalidAudio('unsupported_codec', 'AIFF files must contain uncompressed audio.');
  const statedFrames = format.readUInt32BE(2);
  const sampleFormat = { channels: format.readUInt16BE(0), bits: format.readUInt16BE(6) };
  if (statedFrames > countFrames(soundBytes - soundHeaderBytes, sampleFormat))
    throwBroken('The file is shorter than its header states.');
  return { samples: statedFrames, codec: aiffIntegers.has(compression) ? 'PCM' : 'IEEE_FLOAT' };
}

interface SampleFormat {
  readonly channels: number;
  /** Bits of one sample. */
  readonly bits: number;
  /** The size that the header states for a frame: one sample of each channel. */
  readonly frameBytes?: number;
}

function countFrames(soundBytes: number, { channels, bits, frameBytes }: SampleFormat): number {
  const expectedBytes = channels * Math.ceil(bits / 8);
  if (expectedBytes === 0 || (frameBytes ?? expectedBytes) !== expectedBytes)
    throwBroken('The audio format is invalid.');
  return Math.floor(soundBytes / expectedBytes);
}

/**
 * Reads an IFF file (RIFF: "Multimedia Programming Interface and Data Specifications" 1.0; AIFF: "EA IFF
 * 85"). The form and each chunk must be complete. If chunks have the same name, the first one applies.
 */
function readChunks(
  file: ByteSource,
  start: number,
  names: { readonly format: string; readonly sound: string },
  byteOrder: 'LE' | 'BE',
): { readonly format: Buffer; readonly soundBytes: number } {
  let format: Buffer | undefined;
  let soundBytes: number | undefined;
  const readLength = (offset: number): number => {
    const bytes = file.bytes(offset, 4);
    const length = byteOrder === 'LE' ? bytes.readUInt32LE() : bytes.readUInt32BE();
    if (offset + 4 + length > file.size)
      throwBroken('The file is truncated: it is shorter than its header states.');
    return length;
  };
  const end = start + 8 + readLength(start + 4);
  for (let offset = start + 12, count = 0; offset + 8 <= end; count += 1) {
    if (count === maxChunks) throwBroken('The file has too many chunks.');
    const name = file.bytes(offset, 4).toString('latin1');
    const length = readLength(offset + 4);
    // Copied, so that the window of the file can be freed.
    if (name === names.format)
      format ??= Buffer.from(file.bytes(offset + 8, Math.min(length, maxFormatBytes)));
    if (name === names.sound) soundBytes ??= length;
    offset += 8 + length + (length % 2); // chunks are padded to an even length
  }
  if (format === undefined || soundBytes === undefined)
    throwBroken('The file has no audio format description or no audio data.');
  return { format, soundBytes };
}
