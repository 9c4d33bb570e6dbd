import { InvalidAudio, broken } from './invalid-audio.js';
import type { ByteSource, Measured } from './byte-source.js';
import { readChunks } from './wave.rules.js';

/** AIFF-C's names of uncompressed sample formats. */
const integers = new Set(['NONE', 'twos', 'sowt', 'raw ', 'in24', 'in32']);
const floatingPoints = new Set(['fl32', 'FL32', 'fl64', 'FL64']);
const soundHeaderBytes = 8; // offset and block size

/** Measures AIFF or AIFF-C ("Audio Interchange File Format" 1.3). @throws InvalidAudio */
export function measureAiff(file: ByteSource, start: number): Measured {
  const compressible = file.bytes(start + 8, 4).toString('latin1') === 'AIFC';
  const chunks = readChunks(file, start, 'BE');
  const [common, sound] = [chunks.get('COMM'), chunks.get('SSND')];
  if (common === undefined || common.length < (compressible ? 22 : 18) || sound === undefined)
    return broken('The file has no audio format description or no audio data.');
  const head = file.bytes(common.at, 22);
  const samples = compressible ? head.toString('latin1', 18, 22) : 'NONE';
  if (!integers.has(samples) && !floatingPoints.has(samples))
    throw new InvalidAudio('unsupported_codec', 'Only uncompressed AIFF files are supported.');
  const [channels, frames, bits] = [head.readUInt16BE(0), head.readUInt32BE(2), head.readUInt16BE(6)];
  const rate = extendedPrecision(head.subarray(8, 18));
  if (channels === 0 || bits === 0 || !(rate > 0)) broken('The audio format is invalid.');
  if (frames * channels * Math.ceil(bits / 8) > sound.length - soundHeaderBytes)
    broken('The file is shorter than its header states.');
  return { seconds: frames / rate, sampleRate: rate, codec: integers.has(samples) ? 'PCM' : 'IEEE_FLOAT' };
}

/**
 * IEEE 754 with 80 bits: 16 bits of sign and exponent, then 64 bits of mantissa with an explicit leading one.
 */
function extendedPrecision(bytes: Buffer): number {
  const exponent = (bytes.readUInt16BE(0) & 0x7fff) - 16_383 - 63;
  return Number(bytes.readBigUInt64BE(2)) * 2 ** exponent;
}
