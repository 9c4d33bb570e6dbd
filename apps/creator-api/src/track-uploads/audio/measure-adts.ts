import { maxTrackSeconds } from '@fulfilment/contracts';
import { throwBroken } from './invalid-audio.js';
import type { ByteSource } from './byte-source.js';
import type { Measurement } from './measurement.js';
import { isTrailer } from './detect-audio-format.js';

const headerBytes = 7;
const samplesPerBlock = 1024;
/** More blocks than a track can have, at the highest sample rate of AAC. The rest of the file is not read. */
const tooManyBlocks = (maxTrackSeconds * 96_000) / samplesPerBlock + 1;

/** Measures an AAC file by walking its ADTS frames to the end. @throws InvalidAudio */
export function measureAdts(file: ByteSource, start: number): Measurement {
  let firstRateCode: number | undefined;
  let blocks = 0;
  for (let offset = start; offset < file.size && blocks < tooManyBlocks;) {
    const head = file.bytes(offset, headerBytes);
    if (head.length < headerBytes || head.readUInt8(0) !== 0xff || (head.readUInt8(1) & 0xf6) !== 0xf0) {
      if (isTrailer(file, offset)) break;
      throwBroken('The file contains data that is not an audio frame.');
    }
    // ISO/IEC 13818-7 §6.2: byte 2 has a code of 4 bits for the sample rate, bytes 3 to 5 have 13 bits of
    // the frame's length, byte 6 has the number of blocks less one.
    const rateCode = head.readUInt8(2) & 0x3c;
    const frameBytes = (head.readUIntBE(3, 3) >>> 5) & 0x1fff;
    firstRateCode ??= rateCode;
    if (rateCode !== firstRateCode || frameBytes < headerBytes) throwBroken('An audio frame is invalid.');
    if (offset + frameBytes > file.size) throwBroken('The file is truncated: it ends within an audio frame.');
    blocks += (head.readUInt8(6) & 3) + 1;
    offset += frameBytes;
  }
  return { samples: blocks * samplesPerBlock };
}
