import { throwBroken } from './invalid-audio.js';
import type { ByteSource, Measured } from './byte-source.js';

/** Longer than any frame: 4608 samples of 24 bits in 8 channels are 110 KB. */
const tailBytes = 1024 * 1024;
const maxFrameHeaderBytes = 16;
/** Sound may look like the header of a frame once in 8 million bytes. */
const maxCandidates = 4;
const id3v1Bytes = 128;
const crc8 = crcTable(8, 0x07);
const crc16 = crcTable(16, 0x8005);

/**
 * Measures a FLAC file (RFC 9639) by its last frame, which states its position and ends with a checksum.
 * @throws InvalidAudio; RangeError when the header is truncated
 */
export function measureFlac(file: ByteSource, start: number): Measured {
  // RFC 9639 §8.2: the STREAMINFO block has the block size, and in 36 bits the number of samples.
  const info = Buffer.from(file.bytes(start + 8, 34));
  const blockSize = info.readUInt16BE(0);
  const claimed = (info.readUInt8(13) & 15) * 2 ** 32 + info.readUInt32BE(14);
  const hasId3v1 = file.bytes(file.size - id3v1Bytes, 3).toString('latin1') === 'TAG';
  const end = file.size - (hasId3v1 ? id3v1Bytes : 0);
  const from = Math.max(start + 8 + info.length, end - tailBytes);
  const tail = file.bytes(from, end - from);
  let candidates = 0;
  for (
    let at = tail.lastIndexOf(0xff);
    at > 0 && candidates < maxCandidates;
    at = tail.lastIndexOf(0xff, at - 1)
  ) {
    const samples = endOfFrame(tail.subarray(at, at + maxFrameHeaderBytes), blockSize);
    if (samples === undefined) continue;
    candidates += 1;
    if (crc16Of(tail.subarray(at)) !== 0) continue; // a frame ends with its checksum, which makes the sum 0
    if (samples < claimed) break;
    return { samples };
  }
  throwBroken('The file is truncated: its last audio frame is missing or damaged.');
}

/**
 * RFC 9639 §9.1: the number of samples up to the end of the frame, or undefined if there is no header with a
 * valid checksum.
 */
function endOfFrame(head: Buffer, blockSize: number): number | undefined {
  if (head.length < 7 || (head.readUInt16BE(0) & 0xfffe) !== 0xfff8) return undefined;
  const sizeCode = head.readUInt8(2) >>> 4;
  const rateCode = head.readUInt8(2) & 15;
  // The number of the frame, or of its first sample, is coded like UTF-8.
  const ones = Math.clz32(~(head.readUInt8(4) << 24));
  const sizeAt = 4 + Math.max(1, ones);
  // Some codes say that the block size or the sample rate follows, in 1 or 2 bytes each.
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateBytes = rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0;
  const crcAt = sizeAt + sizeBytes + rateBytes;
  if (sizeCode === 0 || rateCode === 15 || crcAt >= head.length) return undefined;
  if (crc8Of(head.subarray(0, crcAt)) !== head.readUInt8(crcAt)) return undefined;
  let number = head.readUInt8(4) & (0x7f >>> ones);
  for (const byte of head.subarray(5, sizeAt)) number = number * 64 + (byte & 0x3f);
  const numbersSamples = (head.readUInt8(1) & 1) === 1;
  const position = numbersSamples ? number : number * blockSize;
  if (sizeCode === 6) return position + head.readUInt8(sizeAt) + 1;
  if (sizeCode === 7) return position + head.readUInt16BE(sizeAt) + 1;
  if (sizeCode === 1) return position + 192;
  return position + (sizeCode <= 5 ? 144 * 2 ** sizeCode : 2 ** sizeCode);
}

function crc8Of(bytes: Buffer): number {
  return bytes.reduce((crc, byte) => crc8[crc ^ byte] ?? 0, 0);
}

function crc16Of(bytes: Buffer): number {
  return bytes.reduce((crc, byte) => ((crc << 8) & 0xffff) ^ (crc16[(crc >>> 8) ^ byte] ?? 0), 0);
}

function crcTable(bits: 8 | 16, polynomial: number): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1)
      crc = ((crc << 1) ^ ((crc >>> (bits - 1)) & 1 ? polynomial : 0)) & (2 ** bits - 1);
    return crc;
  });
}
