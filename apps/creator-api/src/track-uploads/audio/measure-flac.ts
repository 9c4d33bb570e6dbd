import { throwBroken } from './invalid-audio.js';
import type { ByteSource } from './byte-source.js';
import type { Measurement } from './measurement.js';

/** Longer than any frame: 65535 samples of 32 bits in 8 channels are 2.1 MB. */
const tailBytes = 4 * 1024 * 1024;
const maxFrameHeaderBytes = 16;
/** Limits the time that music-metadata takes for many empty blocks. Usual files have under 20. */
const maxMetadataBlocks = 1_000;
// Codes of the frame header for a block size, or a sample rate, that is written after the frame number, in 1
// or 2 bytes.
const sizeBytesByCode = new Map([
  [6, 1],
  [7, 2],
]);
const rateBytesByCode = new Map([
  [12, 1],
  [13, 2],
  [14, 2],
]);
/** The bytes of sound look like a frame header only about once in 8 million bytes. */
const maxCandidates = 4;
const id3v1Bytes = 128;
const crc8 = crcTable(8, 0x07);
const crc16 = crcTable(16, 0x8005);

/**
 * Measures a FLAC file (RFC 9639) by its last frame, which states its position and ends with a checksum.
 * @throws InvalidAudio; RangeError when the header is truncated
 */
export function measureFlac(file: ByteSource, start: number): Measurement {
  assertFewMetadataBlocks(file, start);
  // RFC 9639 §8.2: the STREAMINFO block has the block size, and in 36 bits the number of samples.
  const info = Buffer.from(file.bytes(start + 8, 34));
  const blockSize = info.readUInt16BE(0);
  const statedSamples = (info.readUInt8(13) & 15) * 2 ** 32 + info.readUInt32BE(14);
  const hasId3v1 = file.bytes(file.size - id3v1Bytes, 3).toString('latin1') === 'TAG';
  const end = file.size - (hasId3v1 ? id3v1Bytes : 0);
  const tailStart = Math.max(start + 8 + info.length, end - tailBytes);
  const tail = file.bytes(tailStart, end - tailStart);
  // Searches backwards. A frame at offset 0 would be the only one of the file. It has at most 65535 samples,
  // so above 6.6 kHz the file would be shorter than the minimum of 10 s (describe-audio.ts).
  let candidates = 0;
  for (
    let offset = tail.lastIndexOf(0xff);
    offset > 0 && candidates < maxCandidates;
    offset = tail.lastIndexOf(0xff, offset - 1)
  ) {
    const samples = samplesThroughFrame(tail.subarray(offset, offset + maxFrameHeaderBytes), blockSize);
    if (samples === undefined) continue;
    candidates += 1;
    // A frame ends with its checksum, so the checksum of the whole frame is 0.
    if (crc16Of(tail.subarray(offset)) !== 0) continue;
    if (samples < statedSamples) break;
    return { samples };
  }
  throwBroken('The file is truncated: its last audio frame is missing or damaged.');
}

/**
 * RFC 9639 §8.1: the header of a metadata block has a bit that marks the last block, a type of 7 bits, and 24
 * bits with the length of the content.
 */
function assertFewMetadataBlocks(file: ByteSource, start: number): void {
  let offset = start + 4;
  for (let count = 0; count < maxMetadataBlocks; count += 1) {
    const header = file.bytes(offset, 4).readUInt32BE();
    if (header >>> 31 === 1) return;
    offset += 4 + (header & 0xffffff);
  }
  throwBroken('The file has too many metadata blocks.');
}

/**
 * Returns the number of samples up to the end of a frame (RFC 9639 §9.1). Undefined if the bytes are not a
 * frame header with a valid checksum.
 */
function samplesThroughFrame(head: Buffer, blockSize: number): number | undefined {
  if (head.length < 7 || (head.readUInt16BE(0) & 0xfffe) !== 0xfff8) return undefined;
  const sizeCode = head.readUInt8(2) >>> 4;
  const rateCode = head.readUInt8(2) & 15;
  // The number of the frame, or of its first sample, is coded like UTF-8.
  const leadingOnes = Math.clz32(~(head.readUInt8(4) << 24));
  const sizeOffset = 4 + Math.max(1, leadingOnes);
  const crcOffset = sizeOffset + (sizeBytesByCode.get(sizeCode) ?? 0) + (rateBytesByCode.get(rateCode) ?? 0);
  if (sizeCode === 0 || rateCode === 15 || crcOffset >= head.length) return undefined;
  if (crc8Of(head.subarray(0, crcOffset)) !== head.readUInt8(crcOffset)) return undefined;
  let number = head.readUInt8(4) & (0x7f >>> leadingOnes);
  for (const byte of head.subarray(5, sizeOffset)) number = number * 64 + (byte & 0x3f);
  const isSampleNumber = (head.readUInt8(1) & 1) === 1;
  const position = isSampleNumber ? number : number * blockSize;
  // The block size by its code (§9.1.1).
  if (sizeCode === 6) return position + head.readUInt8(sizeOffset) + 1;
  if (sizeCode === 7) return position + head.readUInt16BE(sizeOffset) + 1;
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
    for (let bit = 0; bit < 8; bit += 1) {
      const highestBit = (crc >>> (bits - 1)) & 1;
      crc = (crc << 1) & (2 ** bits - 1);
      if (highestBit === 1) crc ^= polynomial;
    }
    return crc;
  });
}
