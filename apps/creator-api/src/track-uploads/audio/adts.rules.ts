import { samplingFrequencies } from './aac-decoder.rules.js';
import { broken } from './audio-refused.js';
import type { ByteSource, Measured } from './byte-source.js';
import { isTrailer } from './file-kind.rules.js';

const headerBytes = 7;
const samplesOfABlock = 1024;

/** Seconds of sound in an AAC file of ADTS frames, frame by frame to its end. @throws AudioRefused */
export function measureAdts(file: ByteSource, start: number): Measured {
  let rate: number | undefined;
  let blocks = 0;
  for (let at = start; at < file.size;) {
    const head = file.bytes(at, headerBytes);
    if (head.length < headerBytes || head.readUInt8(0) !== 0xff || (head.readUInt8(1) & 0xf6) !== 0xf0) {
      if (isTrailer(file, at)) break;
      return broken('The file contains data that is not an audio frame.');
    }
    const own = samplingFrequencies[(head.readUInt8(2) >>> 2) & 15];
    const bytes = (head.readUIntBE(3, 3) >>> 5) & 0x1fff;
    rate ??= own;
    if (own === undefined || own !== rate || bytes < headerBytes) return broken('An audio frame is invalid.');
    if (at + bytes > file.size) broken('The file is truncated: it ends within an audio frame.');
    blocks += (head.readUInt8(6) & 3) + 1;
    at += bytes;
  }
  if (rate === undefined) return broken('The file contains no audio.');
  return { seconds: (blocks * samplesOfABlock) / rate, sampleRate: rate };
}
