import { broken } from './audio-refused.js';
import type { ByteSource, Measured } from './byte-source.js';
import { afterZeros, isTrailer } from './file-kind.rules.js';

const streamInfo = 0;
const blockHeaderBytes = 4;
const mostFrameHeaderBytes = 16;
const leastFrameBytes = 8;
const readAtATime = 65_536;
const crc8 = crcTable(8, 0x07);
const crc16 = crcTable(16, 0x8005);

/**
 * Seconds of sound in a FLAC file (RFC 9639). Frames do not say how long they are, but each ends with a checksum of all its bytes: so
 * every frame is checked, and the samples are counted. @throws AudioRefused
 */
export function measureFlac(file: ByteSource, start: number): Measured {
  const { rate, samples: claimed, audioAt } = readMetadata(file, start);
  let samples = 0;
  for (let at = audioAt; at < file.size && (claimed === 0 || samples < claimed);) {
    const blockSize = frameHeader(file.bytes(at, mostFrameHeaderBytes));
    if (blockSize === undefined) {
      if (isTrailer(file, at)) break;
      return broken('The file contains data that is not an audio frame.');
    }
    at = endOfFrame(file, at);
    samples += blockSize;
  }
  if (samples < claimed) broken('The file is truncated: it is shorter than its header states.');
  return { seconds: samples / rate, sampleRate: rate };
}

/** RFC 9639 §8: blocks of one byte that says which and whether it is the last, and three of length. */
function readMetadata(file: ByteSource, start: number): { rate: number; samples: number; audioAt: number } {
  const info = file.bytes(start + 4, blockHeaderBytes + 34);
  if (info.length < blockHeaderBytes + 34 || (info.readUInt8(0) & 0x7f) !== streamInfo)
    return broken('The file has no audio format description.');
  const rate = info.readUIntBE(14, 3) >>> 4;
  const samples = (info.readUInt8(17) & 15) * 2 ** 32 + info.readUInt32BE(18);
  if (rate === 0) broken('The audio format is invalid.');
  let at = start + 4;
  for (let last = false; !last;) {
    const head = file.bytes(at, blockHeaderBytes);
    if (head.length < blockHeaderBytes) return broken('The file is truncated: it ends within its header.');
    last = head.readUInt8(0) >= 0x80;
    at += blockHeaderBytes + head.readUIntBE(1, 3);
  }
  if (at > file.size) broken('The file is truncated: it ends within its header.');
  return { rate, samples, audioAt: at };
}

/** RFC 9639 §9.1. The samples of the block that begins here, or undefined when no header does, by its own checksum. */
function frameHeader(head: Buffer): number | undefined {
  if (head.length < 6 || (head.readUInt16BE(0) & 0xfffe) !== 0xfff8) return undefined;
  const sizeCode = head.readUInt8(2) >>> 4;
  const rateCode = head.readUInt8(2) & 15;
  if (sizeCode === 0 || rateCode === 15) return undefined;
  let at = 4 + Math.max(1, Math.clz32(~(head.readUInt8(4) << 24))); // the number of the block, coded as UTF-8 codes
  const sizeAt = at;
  at += sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  at += rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0;
  if (at >= head.length) return undefined;
  let crc = 0;
  for (const byte of head.subarray(0, at)) crc = crc8[crc ^ byte] ?? 0;
  if (crc !== head.readUInt8(at)) return undefined;
  if (sizeCode === 6) return head.readUInt8(sizeAt) + 1;
  if (sizeCode === 7) return head.readUInt16BE(sizeAt) + 1;
  if (sizeCode === 1) return 192;
  return sizeCode <= 5 ? 144 * 2 ** sizeCode : 2 ** sizeCode;
}

/** Where the checksum comes out, and the next frame, a tag or the end of the file follows. */
function endOfFrame(file: ByteSource, start: number): number {
  let crc = 0;
  for (let at = start; at < file.size;) {
    const bytes = file.bytes(at, readAtATime);
    let count = 0;
    do {
      // The checksum over a frame and its own checksum is 0.
      crc = ((crc << 8) & 0xffff) ^ (crc16[(crc >>> 8) ^ (bytes[count] ?? 0)] ?? 0);
      count += 1;
    } while (crc !== 0 && count < bytes.length);
    at += count;
    if (crc !== 0 || at - start < leastFrameBytes) continue;
    // Zeros keep it 0, those of the frame's own checksum, too: the end may be behind any of them, so behind the last.
    for (const end of [at, afterZeros(file, at)]) {
      if (followsFrame(file, end)) return end;
      at = end;
    }
  }
  return broken('An audio frame is damaged or truncated.');
}

function followsFrame(file: ByteSource, at: number): boolean {
  return (
    at === file.size || frameHeader(file.bytes(at, mostFrameHeaderBytes)) !== undefined || isTrailer(file, at)
  );
}

function crcTable(bits: 8 | 16, polynomial: number): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1)
      crc = ((crc << 1) ^ ((crc >>> (bits - 1)) & 1 ? polynomial : 0)) & (2 ** bits - 1);
    return crc;
  });
}
