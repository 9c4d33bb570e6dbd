import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Recorded encoder output: 12 s of a quiet tone (ffmpeg -f lavfi -i sine=220); `short.*` has 9.99 s (lame -V
 * 9.9, ffmpeg -c:a aac).
 */
export function sample(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, 'samples', name));
}

interface WaveOptions {
  readonly seconds?: number;
  readonly rate?: number;
  readonly channels?: number;
  readonly bits?: number;
  /** 1 PCM, 3 floating point, 0xfffe extensible. */
  readonly formatTag?: number;
  /** Number of sound bytes that the header states; by default the actual number. */
  readonly statedBytes?: number;
  /** Title in the LIST chunk. */
  readonly title?: string;
  /** Chunks after the sound. */
  readonly trailer?: Buffer;
}

/** Silence as WAV. */
export function wave(options: WaveOptions = {}): Buffer {
  const { seconds = 12, rate = 8000, channels = 1, bits = 16, formatTag = 1 } = options;
  const frameBytes = (channels * bits) / 8;
  const sound = Buffer.alloc(Math.round(seconds * rate) * frameBytes);
  const format = Buffer.alloc(formatTag === 0xfffe ? 40 : 16);
  format.writeUInt16LE(formatTag, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(rate * frameBytes, 8);
  format.writeUInt16LE(frameBytes, 12);
  format.writeUInt16LE(bits, 14);
  if (formatTag === 0xfffe) {
    format.writeUInt16LE(22, 16);
    format.write('0100000000001000800000aa00389b71', 24, 'hex');
  }
  const statedBytes = options.statedBytes ?? sound.length;
  const info =
    options.title === undefined
      ? Buffer.alloc(0)
      : chunk('LIST', Buffer.concat([Buffer.from('INFO'), chunk('INAM', Buffer.from(`${options.title}\0`))]));
  const chunks = [chunk('fmt ', format), info, chunk('data', sound, { statedLength: statedBytes })];
  const body = Buffer.concat([Buffer.from('WAVE'), ...chunks, options.trailer ?? Buffer.alloc(0)]);
  return Buffer.concat([chunkHeader('RIFF', body.length + statedBytes - sound.length), body]);
}

interface AiffOptions {
  readonly seconds?: number;
  readonly compression?: string;
  /** Number of frames that the header states; by default the actual number. */
  readonly statedFrames?: number;
}

/** Silence as AIFF, or as AIFF-C if a compression is given. */
export function aiff(options: AiffOptions = {}): Buffer {
  const { seconds = 12, compression = '' } = options;
  const frames = Math.round(seconds * 8000);
  const common = Buffer.alloc(compression === '' ? 18 : 24);
  common.writeUInt16BE(1, 0);
  common.writeUInt32BE(options.statedFrames ?? frames, 2);
  common.writeUInt16BE(16, 6);
  common.write('400bfa00000000000000', 8, 'hex'); // 8000 in 80 bits
  common.write(compression, 18);
  const body = Buffer.concat([
    Buffer.from(compression === '' ? 'AIFF' : 'AIFC'),
    chunk('COMM', common, { order: 'BE' }),
    chunk('SSND', Buffer.alloc(8 + frames * 2), { order: 'BE' }),
  ]);
  return Buffer.concat([chunkHeader('FORM', body.length, 'BE'), body]);
}

export const flacSamplesPerFrame = 4096;

/** FLAC at 8000 Hz: one frame for each value, whose samples all have that value (RFC 9639 §9). */
export function flac(values: readonly number[]): Buffer {
  // Block size 2^12, the rate of STREAMINFO, mono, 16 bits.
  const header = Buffer.from([0xff, 0xf8, 0xc0, 0x08]);
  const frames = values.map(
    (value, number) =>
      flacFrame(header, number, Buffer.alloc(0), Buffer.from([0, value >>> 8, value & 0xff])), // a constant subframe
  );
  return flacFile({ samplesPerFrame: flacSamplesPerFrame, channels: 1, bits: 16 }, frames);
}

export const maxFlacSamplesPerFrame = 65_535;

/** FLAC at 8000 Hz of silent frames with the maximum size: 65535 samples of 24 bits in 8 channels, 1.6 MB. */
export function flacOfLargeFrames(count: number): Buffer {
  const [channels, bits] = [8, 24];
  // Block size after the frame number, rate and bits of STREAMINFO.
  const header = Buffer.from([0xff, 0xf8, 0x70, (channels - 1) << 4]);
  const blockSize = Buffer.alloc(2);
  blockSize.writeUInt16BE(maxFlacSamplesPerFrame - 1);
  const verbatim = Buffer.concat([Buffer.from([2]), Buffer.alloc((maxFlacSamplesPerFrame * bits) / 8)]);
  const content = Buffer.concat(Array.from({ length: channels }, () => verbatim));
  const frames = Array.from({ length: count }, (_, number) => flacFrame(header, number, blockSize, content));
  return flacFile({ samplesPerFrame: maxFlacSamplesPerFrame, channels, bits }, frames);
}

/** @param blockSize the block size if the header has a code for it, else empty */
function flacFrame(header: Buffer, number: number, blockSize: Buffer, content: Buffer): Buffer {
  const coded = Buffer.from(String.fromCodePoint(number), 'utf8'); // frame numbers are coded like UTF-8
  const head = Buffer.concat([header, coded, blockSize]);
  const frame = Buffer.concat([head, Buffer.from([crc(head, 8, 0x07)]), content]);
  const checksum = Buffer.alloc(2);
  checksum.writeUInt16BE(crc(frame, 16, 0x8005));
  return Buffer.concat([frame, checksum]);
}

function flacFile(
  stream: { readonly samplesPerFrame: number; readonly channels: number; readonly bits: number },
  frames: readonly Buffer[],
): Buffer {
  const { samplesPerFrame, channels, bits } = stream;
  const info = Buffer.alloc(34);
  info.writeUInt16BE(samplesPerFrame, 0);
  info.writeUInt16BE(samplesPerFrame, 2);
  // 20 bits of rate, 3 of channels - 1, 5 of bits - 1
  info.writeUInt32BE(((8000 << 12) | ((channels - 1) << 9) | ((bits - 1) << 4)) >>> 0, 10);
  info.writeUInt32BE(frames.length * samplesPerFrame, 14);
  return Buffer.concat([Buffer.from('fLaC'), Buffer.from([0x80, 0, 0, 34]), info, ...frames]);
}

function crc(bytes: Buffer, bits: 8 | 16, polynomial: number): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1)
      sum = ((sum << 1) ^ ((sum >>> (bits - 1)) & 1 ? polynomial : 0)) & (2 ** bits - 1);
  }
  return sum;
}

function chunk(
  name: string,
  content: Buffer,
  {
    statedLength = content.length,
    order = 'LE',
  }: { readonly statedLength?: number; readonly order?: 'LE' | 'BE' } = {},
): Buffer {
  return Buffer.concat([chunkHeader(name, statedLength, order), content, Buffer.alloc(content.length % 2)]);
}

function chunkHeader(name: string, length: number, order: 'LE' | 'BE' = 'LE'): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  if (order === 'LE') head.writeUInt32LE(Math.min(length, 0xffffffff), 4);
  else head.writeUInt32BE(Math.min(length, 0xffffffff), 4);
  return head;
}
