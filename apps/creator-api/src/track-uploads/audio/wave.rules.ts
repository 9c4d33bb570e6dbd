import { InvalidAudio, broken } from './invalid-audio.js';
import type { ByteSource, Measured } from './byte-source.js';

const pcm = 1;
const floatingPoint = 3;
const extensible = 0xfffe;
const maxChunks = 10_000;

export interface Chunk {
  readonly name: string;
  /** Offset of its content. */
  readonly at: number;
  readonly length: number;
}

/**
 * Returns the first chunk of each name in an IFF file (RIFF: "Multimedia Programming Interface and Data
 * Specifications" 1.0; AIFF: "EA IFF 85"). The form and each chunk must be complete.
 */
export function readChunks(file: ByteSource, start: number, order: 'LE' | 'BE'): Map<string, Chunk> {
  const lengthAt = (at: number): number => {
    const bytes = file.bytes(at, 4);
    if (bytes.length < 4) broken('The file is truncated: it ends within a header.');
    return order === 'LE' ? bytes.readUInt32LE() : bytes.readUInt32BE();
  };
  const end = start + 8 + lengthAt(start + 4);
  if (end > file.size) broken('The file is truncated: it is shorter than its header states.');
  const chunks = new Map<string, Chunk>();
  let at = start + 12;
  for (let count = 0; at + 8 <= end && count < maxChunks; count += 1) {
    const name = file.bytes(at, 4).toString('latin1');
    const length = lengthAt(at + 4);
    if (at + 8 + length > file.size) broken('The file is truncated: it is shorter than a chunk states.');
    if (!chunks.has(name)) chunks.set(name, { name, at: at + 8, length });
    at += 8 + length + (length % 2);
  }
  return chunks;
}

/** @throws InvalidAudio */
export function measureWave(file: ByteSource, start: number): Measured {
  const chunks = readChunks(file, start, 'LE');
  const [format, data] = [chunks.get('fmt '), chunks.get('data')];
  if (format === undefined || format.length < 16 || data === undefined)
    return broken('The file has no audio format description or no audio data.');
  const head = file.bytes(format.at, Math.min(format.length, 40));
  const tag = head.readUInt16LE(0);
  const codec = tag === extensible && head.length >= 26 ? head.readUInt16LE(24) : tag;
  if (codec !== pcm && codec !== floatingPoint)
    throw new InvalidAudio(
      'unsupported_codec',
      'Only PCM and floating point audio is supported in WAV files.',
    );
  const [channels, rate, frameBytes, bits] = [
    head.readUInt16LE(2),
    head.readUInt32LE(4),
    head.readUInt16LE(12),
    head.readUInt16LE(14),
  ];
  if (channels === 0 || rate === 0 || bits === 0 || frameBytes !== channels * Math.ceil(bits / 8))
    broken('The audio format is invalid.');
  return {
    seconds: Math.floor(data.length / frameBytes) / rate,
    sampleRate: rate,
    codec: codec === pcm ? 'PCM' : 'IEEE_FLOAT',
  };
}
