import { broken } from './invalid-audio.js';
import type { ByteSource, Measured } from './byte-source.js';
import { afterZeros, isTrailer } from './file-kind.rules.js';

const streamInfo = 0;
const blockHeaderBytes = 4;
const maxFrameHeaderBytes = 16;
const minFrameBytes = 8;
const readChunkBytes = 65_536;
const crc8 = crcTable(8, 0x07);
const crc16 = crcTable(16, 0x8005);

/**
 * Measures a FLAC file (RFC 9639) by counting the samples of its frames. Frames do not state their length,
 * but each ends with a checksum of its bytes, which locates and verifies its end. @throws InvalidAudio
 */
export function measureFlac(file: ByteSource, start: number): Measured {
  const { rate, samples: claimed, audioAt } = readMetadata(file, start);
  let samples = 0;
  for (let at = audioAt; at < file.size && (claimed === 0 || samples < claimed);) {
    const blockSize = frameHeader(file.bytes(at, maxFrameHeaderBytes));
    if (blockSize === undefined) {
      if (isTrailer(file, at)) break;
      return broken('The file contains data that is not an audio frame.');
    }
    at = findFrameEnd(file, at);
    samples += blockSize;
  }
  if (samples < claimed) broken('The file is truncated: it is shorter than its header states.');
  return { seconds: samples / rate, sampleRate: rate };
}

/** RFC 9639 §8: each metadata block has one byte of type and last-block flag, and three bytes of length. */
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

/**
 * RFC 9639 §9.1: the number of samples of the frame, or undefined if there is no header with a valid
 * checksum.
 */
function frameHeader(head: Buffer): number | undefined {
  if (head.length < 6 || (head.readUInt16BE(0) & 0xfffe) !== 0xfff8) return undefined;
  const sizeCode = head.readUInt8(2) >>> 4;
  const rateCode = head.readUInt8(2) & 15;
  if (sizeCode === 0 || rateCode === 15) return undefined;
  let at = 4 + Math.max(1, Math.clz32(~(head.readUInt8(4) << 24))); // the frame number, coded like UTF-8
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

/** Finds the offset where the checksum matches and a frame, a tag or the end of the file follows. */
function findFrameEnd(file: ByteSource, start: number): number {
  let crc = 0;
  for (let at = start; at < file.size;) {
    const bytes = file.bytes(at, readChunkBytes);
    let count = 0;
    do {
      // The checksum over a frame including its own checksum is 0.
      crc = ((crc << 8) & 0xffff) ^ (crc16[(crc >>> 8) ^ (bytes[count] ?? 0)] ?? 0);
      count += 1;
    } while (crc !== 0 && count < bytes.length);
    at += count;
    if (crc !== 0 || at - start < minFrameBytes) continue;
    // Zeros keep the checksum at 0, so the end may be after any of the following zeros. Try the first and the
    // last.
    for (const end of [at, afterZeros(file, at)]) {
      if (followsFrame(file, end)) return end;
      at = end;
    }
  }
  return broken('An audio frame is damaged or truncated.');
}

function followsFrame(file: ByteSource, at: number): boolean {
  return (
    at === file.size || frameHeader(file.bytes(at, maxFrameHeaderBytes)) !== undefined || isTrailer(file, at)
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
