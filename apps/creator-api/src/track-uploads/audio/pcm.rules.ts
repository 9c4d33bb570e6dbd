import { InvalidAudio, throwBroken } from './invalid-audio.js';
import type { ByteSource, Measured } from './byte-source.js';

const maxChunks = 10_000;
const waveCodecs = new Map([
  [1, 'PCM'],
  [3, 'IEEE_FLOAT'],
]);
const extensible = 0xfffe;
/** AIFF-C's names of uncompressed sample formats. */
const aiffIntegers = new Set(['NONE', 'twos', 'sowt', 'raw ', 'in24', 'in32']);
const aiffFloats = new Set(['fl32', 'FL32', 'fl64', 'FL64']);
const soundHeaderBytes = 8; // offset and block size

/** @throws InvalidAudio; RangeError when the format description is truncated */
export function measureWave(file: ByteSource, start: number): Measured {
  const { format, soundBytes } = readChunks(file, start, { format: 'fmt ', sound: 'data', order: 'LE' });
  const tag = format.readUInt16LE(0);
  const codec = waveCodecs.get(tag === extensible ? format.readUInt16LE(24) : tag);
  if (codec === undefined)
    throw new InvalidAudio('unsupported_codec', 'WAV files must contain PCM or floating point audio.');
  const [channels, frameBytes, bits] = [2, 12, 14].map((at) => format.readUInt16LE(at));
  return { samples: countFrames(soundBytes, channels, bits, frameBytes), codec };
}

/** Measures AIFF or AIFF-C ("Audio Interchange File Format" 1.3). @throws InvalidAudio; RangeError */
export function measureAiff(file: ByteSource, start: number): Measured {
  const compressible = file.bytes(start + 8, 4).toString('latin1') === 'AIFC';
  const { format, soundBytes } = readChunks(file, start, { format: 'COMM', sound: 'SSND', order: 'BE' });
  const samples = compressible ? format.toString('latin1', 18, 22) : 'NONE';
  if (!aiffIntegers.has(samples) && !aiffFloats.has(samples))
    throw new InvalidAudio('unsupported_codec', 'AIFF files must contain uncompressed audio.');
  const frames = format.readUInt32BE(2);
  if (frames > countFrames(soundBytes - soundHeaderBytes, format.readUInt16BE(0), format.readUInt16BE(6)))
    throwBroken('The file is shorter than its header states.');
  return { samples: frames, codec: aiffIntegers.has(samples) ? 'PCM' : 'IEEE_FLOAT' };
}

function countFrames(
  bytes: number,
  channels = 0,
  bits = 0,
  frameBytes = channels * Math.ceil(bits / 8),
): number {
  if (channels === 0 || bits === 0 || frameBytes !== channels * Math.ceil(bits / 8))
    throwBroken('The audio format is invalid.');
  return Math.floor(bytes / frameBytes);
}

/**
 * Reads an IFF file (RIFF: "Multimedia Programming Interface and Data Specifications" 1.0; AIFF: "EA IFF
 * 85"). The form and each chunk must be complete. Of chunks with one name, the first applies.
 */
function readChunks(
  file: ByteSource,
  start: number,
  names: { readonly format: string; readonly sound: string; readonly order: 'LE' | 'BE' },
): { readonly format: Buffer; readonly soundBytes: number } {
  let format: Buffer | undefined;
  let soundBytes: number | undefined;
  const lengthAt = (at: number): number => {
    const length = names.order === 'LE' ? file.bytes(at, 4).readUInt32LE() : file.bytes(at, 4).readUInt32BE();
    if (at + 4 + length > file.size)
      throwBroken('The file is truncated: it is shorter than its header states.');
    return length;
  };
  const end = start + 8 + lengthAt(start + 4);
  for (let at = start + 12, count = 0; at + 8 <= end && count < maxChunks; count += 1) {
    const name = file.bytes(at, 4).toString('latin1');
    const length = lengthAt(at + 4);
    if (name === names.format) format ??= Buffer.from(file.bytes(at + 8, Math.min(length, 40)));
    if (name === names.sound) soundBytes ??= length;
    at += 8 + length + (length % 2);
  }
  if (format === undefined || soundBytes === undefined)
    throwBroken('The file has no audio format description or no audio data.');
  return { format, soundBytes };
}
