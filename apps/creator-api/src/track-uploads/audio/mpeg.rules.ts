import { InvalidAudio, throwBroken } from './invalid-audio.js';
import type { ByteSource, Measured } from './byte-source.js';
import { isTrailer } from './audio-format.rules.js';

const headerBytes = 4;
/**
 * Layer III bit rates in kbit/s by header index (ISO/IEC 11172-3 §2.4.2.3, 13818-3 §2.4.2.3). 0 is free
 * format.
 */
const bitrates = {
  mpeg1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const rates = [44_100, 48_000, 32_000] as const;

interface Frame {
  /** Length including the header. */
  readonly bytes: number;
  readonly samples: number;
  readonly rate: number;
  /** Offset of the end of the side information. */
  readonly sideInformationEnds: number;
  readonly layer: number;
}

/** Parses a frame header. Returns undefined if there is none. */
function frameAt(file: ByteSource, at: number): Frame | undefined {
  const head = file.bytes(at, headerBytes);
  if (head.length < headerBytes) return undefined;
  // 11 bits of sync, then version (2), layer (2), checksum (1), bit rate (4), sample rate (2), padding (1),
  // private (1) and channel mode (2).
  const word = head.readUInt32BE();
  const version = (word >>> 19) & 3; // 3 is MPEG 1, 2 is MPEG 2, 0 is MPEG 2.5
  const layer = 4 - ((word >>> 17) & 3);
  const mpeg1Rate = rates[(word >>> 10) & 3];
  const bitrate = bitrates[version === 3 ? 'mpeg1' : 'mpeg2'][(word >>> 12) & 15];
  if (word >>> 21 !== 0x7ff || version === 1 || layer === 4) return undefined;
  if (mpeg1Rate === undefined || bitrate === undefined) return undefined;
  const rate = version === 3 ? mpeg1Rate : version === 2 ? mpeg1Rate / 2 : mpeg1Rate / 4;
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

/**
 * Measures an MP3 file by walking its frames to the end, without trusting its header or bit rate.
 * @throws InvalidAudio
 */
export function measureMp3(file: ByteSource, start: number): Measured {
  const first = frameAt(file, start);
  if (first === undefined)
    throw new InvalidAudio('not_audio', 'The file is not audio of a supported format.');
  const claimed = framesClaimed(file, start, first);
  let at = claimed === undefined ? start : start + first.bytes; // the Xing, Info or VBRI frame has no sound
  let frames = 0;
  while (at < file.size && !isEndOfFrames(file, at)) {
    const frame = frameAt(file, at);
    if (frame === undefined || frame.rate !== first.rate || frame.samples !== first.samples)
      throwBroken('The file contains data that is not an audio frame.');
    if (frame.layer !== 3 || frame.bytes === 0)
      throw new InvalidAudio(
        'unsupported_codec',
        'Only layer III with a stated bit rate is supported in MPEG audio.',
      );
    if (at + frame.bytes > file.size) throwBroken('The file is truncated: it ends within an audio frame.');
    at += frame.bytes;
    frames += 1;
  }
  if (claimed !== undefined && claimed > frames) throwBroken('The file is shorter than its header states.');
  const samples = Math.max(0, frames * first.samples - inaudibleSamples(file, start, first));
  return { samples };
}

/** Checks the sync word first, to avoid searching for trailers after every frame. */
function isEndOfFrames(file: ByteSource, at: number): boolean {
  const [first = 0, second = 0] = file.bytes(at, 2);
  return !(first === 0xff && second >= 0xe0) && isTrailer(file, at);
}

/** The number of frames in a Xing, Info or VBRI header, which takes the place of the first frame's sound. */
function framesClaimed(file: ByteSource, start: number, frame: Frame): number | undefined {
  const xing = file.bytes(start + frame.sideInformationEnds, 12);
  if (xing.length === 12 && /^(Xing|Info)/.test(xing.toString('latin1', 0, 4)))
    return (xing.readUInt32BE(4) & 1) === 1 ? xing.readUInt32BE(8) : 0;
  const vbri = file.bytes(start + headerBytes + 32, 18);
  return vbri.length === 18 && vbri.toString('latin1', 0, 4) === 'VBRI' ? vbri.readUInt32BE(14) : undefined;
}

/**
 * Samples that an encoder added before the sound and after it to fill the last frame. The LAME tag after a
 * Xing or Info header has 12 bits for each (Mp3 Info Tag rev 1). Returns 0 without such a tag.
 */
function inaudibleSamples(file: ByteSource, start: number, frame: Frame): number {
  const at = start + frame.sideInformationEnds;
  const xing = file.bytes(at, 8);
  if (xing.length < 8 || !/^(Xing|Info)/.test(xing.toString('latin1', 0, 4))) return 0;
  const flags = xing.readUInt32BE(4); // which fields follow: frames, bytes, seek table, quality
  const fieldBytes = (flags & 1 && 4) + (flags & 2 && 4) + (flags & 4 && 100) + (flags & 8 && 4);
  const tag = file.bytes(at + 8 + fieldBytes, 24);
  if (tag.length < 24 || !/^(LAME|L3\.99|Lav[cf])/.test(tag.toString('latin1', 0, 5))) return 0;
  const delays = tag.readUIntBE(21, 3);
  return (delays >>> 12) + (delays & 0xfff);
}
