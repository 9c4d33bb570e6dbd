import { AudioRefused, broken } from './audio-refused.js';
import type { ByteSource, Measured } from './byte-source.js';
import { isTrailer } from './file-kind.rules.js';

const headerBytes = 4;
/** Bits a second in 1000 for layer III, by the header's index (ISO/IEC 11172-3 §2.4.2.3, 13818-3 §2.4.2.3). 0 is free format. */
const bitrates = {
  one: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  two: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const rates = [44_100, 48_000, 32_000] as const;

interface Frame {
  /** With its header. */
  readonly bytes: number;
  readonly samples: number;
  readonly rate: number;
  /** Where its side information ends. */
  readonly sideInformationEnds: number;
  readonly layer: number;
}

/** Reads a frame's header. Undefined when there is none. */
function frameAt(file: ByteSource, at: number): Frame | undefined {
  const head = file.bytes(at, headerBytes);
  if (head.length < headerBytes) return undefined;
  const word = head.readUInt32BE();
  const version = (word >>> 19) & 3; // 3 is MPEG 1, 2 is MPEG 2, 0 is MPEG 2.5
  const layer = 4 - ((word >>> 17) & 3);
  const rateOfOne = rates[(word >>> 10) & 3];
  const bitrate = bitrates[version === 3 ? 'one' : 'two'][(word >>> 12) & 15];
  if (word >>> 21 !== 0x7ff || version === 1 || layer === 4) return undefined;
  if (rateOfOne === undefined || bitrate === undefined) return undefined;
  const rate = version === 3 ? rateOfOne : version === 2 ? rateOfOne / 2 : rateOfOne / 4;
  const samples = version === 3 ? 1152 : 576;
  const mono = ((word >>> 6) & 3) === 3;
  const sideInformation = version === 3 ? (mono ? 17 : 32) : mono ? 9 : 17;
  const padding = (word >>> 9) & 1;
  return {
    bytes: bitrate === 0 ? 0 : Math.floor((samples * 125 * bitrate) / rate) + padding,
    samples,
    rate,
    sideInformationEnds: headerBytes + sideInformation,
    layer,
  };
}

/** Seconds of sound in an MP3 file, frame by frame to its end: neither its header nor its bit rate is believed. @throws AudioRefused */
export function measureMp3(file: ByteSource, start: number): Measured {
  const first = frameAt(file, start);
  if (first === undefined)
    throw new AudioRefused('not_audio', 'The file is not audio of a supported format.');
  const claimed = framesClaimed(file, start, first);
  let at = claimed === undefined ? start : start + first.bytes; // the frame of the claim holds no sound
  let frames = 0;
  while (at < file.size && !isFrameless(file, at)) {
    const frame = frameAt(file, at);
    if (frame === undefined || frame.rate !== first.rate || frame.samples !== first.samples)
      return broken('The file contains data that is not an audio frame.');
    if (frame.layer !== 3 || frame.bytes === 0)
      throw new AudioRefused(
        'unsupported_codec',
        'Only layer III with a stated bit rate is supported in MPEG audio.',
      );
    if (at + frame.bytes > file.size) broken('The file is truncated: it ends within an audio frame.');
    at += frame.bytes;
    frames += 1;
  }
  if (claimed !== undefined && claimed > frames) broken('The file is shorter than its header states.');
  const samples = Math.max(0, frames * first.samples - samplesNotHeard(file, start, first));
  return { seconds: samples / first.rate, sampleRate: first.rate };
}

/** A look at the two bytes that every frame begins with spares the search for trailers behind each. */
function isFrameless(file: ByteSource, at: number): boolean {
  const [first = 0, second = 0] = file.bytes(at, 2);
  return !(first === 0xff && second >= 0xe0) && isTrailer(file, at);
}

/** The number of frames in a Xing, Info or VBRI header, which stands where the first frame's sound would be. */
function framesClaimed(file: ByteSource, start: number, frame: Frame): number | undefined {
  const xing = file.bytes(start + frame.sideInformationEnds, 12);
  if (xing.length === 12 && /^(Xing|Info)/.test(xing.toString('latin1', 0, 4)))
    return (xing.readUInt32BE(4) & 1) === 1 ? xing.readUInt32BE(8) : 0;
  const vbri = file.bytes(start + headerBytes + 32, 18);
  return vbri.length === 18 && vbri.toString('latin1', 0, 4) === 'VBRI' ? vbri.readUInt32BE(14) : undefined;
}

/**
 * Samples that an encoder put before the sound to begin with, and behind it to fill the last frame: 12 bits each in the tag that LAME puts behind a Xing or
 * Info header, and others with it (Mp3 Info Tag rev 1). 0 when it is not told.
 */
function samplesNotHeard(file: ByteSource, start: number, frame: Frame): number {
  const at = start + frame.sideInformationEnds;
  const xing = file.bytes(at, 8);
  if (xing.length < 8 || !/^(Xing|Info)/.test(xing.toString('latin1', 0, 4))) return 0;
  const flags = xing.readUInt32BE(4);
  const [frames, bytes, places, quality] = [flags & 1 && 4, flags & 2 && 4, flags & 4 && 100, flags & 8 && 4];
  const tag = file.bytes(at + 8 + frames + bytes + places + quality, 24);
  if (tag.length < 24 || !/^(LAME|L3\.99|Lav[cf])/.test(tag.toString('latin1', 0, 5))) return 0;
  const both = tag.readUIntBE(21, 3);
  return (both >>> 12) + (both & 0xfff);
}
