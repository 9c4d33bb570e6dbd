import { maxTrackSeconds } from '@fulfilment/contracts';
import { InvalidAudio, throwBroken } from './invalid-audio.js';
import type { ByteSource } from './byte-source.js';
import type { Measurement } from './measurement.js';
import { isTrailer } from './detect-audio-format.js';

const headerBytes = 4;
const bytesPerKilobit = 1000 / 8;
const mpeg1SampleRates = [44_100, 48_000, 32_000] as const;
/** Bit rates of MPEG 2 and 2.5 Layer III in kbit/s, by header index (ISO/IEC 13818-3 §2.4.2.3). */
const lowBitrates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160] as const;
const lowRateVersion = { bitrates: lowBitrates, samples: 576, sideInformationBytes: { mono: 9, stereo: 17 } };
/** Properties of Layer III by the version bits of the frame header: MPEG 1, 2 and 2.5. */
const versions = new Map([
  [
    3,
    {
      /** ISO/IEC 11172-3 §2.4.2.3; 0 is free format. */
      bitrates: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320] as const,
      rateDivisor: 1,
      samples: 1152,
      sideInformationBytes: { mono: 17, stereo: 32 },
    },
  ],
  [2, { ...lowRateVersion, rateDivisor: 2 }],
  [0, { ...lowRateVersion, rateDivisor: 4 }],
]);

/** Fields that follow in a Xing or Info header: number of frames, of bytes, seek table, quality. */
const xingFields = [
  { flag: 1, bytes: 4 },
  { flag: 2, bytes: 4 },
  { flag: 4, bytes: 100 },
  { flag: 8, bytes: 4 },
];

interface Frame {
  /** Length including the header; 0 if the bit rate is not stated. */
  readonly bytes: number;
  readonly samples: number;
  /** Samples per second. */
  readonly rate: number;
  /** Offset of the first byte after the side information. */
  readonly sideInformationEnd: number;
  readonly layer: number;
}

/**
 * Measures an MP3 file by walking its frames to the end, without trusting its header or bit rate.
 * @throws InvalidAudio; RangeError when a frame header is truncated
 */
export function measureMp3(file: ByteSource, start: number): Measurement {
  const first = readFrame(file, start);
  if (first === undefined)
    throw new InvalidAudio('not_audio', 'The file is not audio of a supported format.');
  const statedFrames = readStatedFrames(file, start, first);
  // The frame with the header has no sound.
  let offset = statedFrames === undefined ? start : start + first.bytes;
  let frames = 0;
  const maxFrames = (maxTrackSeconds * first.rate) / first.samples;
  while (offset < file.size && !isEndOfFrames(file, offset)) {
    const frame = readFrame(file, offset);
    if (frame === undefined || frame.rate !== first.rate || frame.samples !== first.samples)
      throwBroken('The file contains data that is not an audio frame.');
    if (frame.layer !== 3 || frame.bytes === 0)
      throw new InvalidAudio(
        'unsupported_codec',
        'Only layer III with a stated bit rate is supported in MPEG audio.',
      );
    if (offset + frame.bytes > file.size)
      throwBroken('The file is truncated: it ends within an audio frame.');
    offset += frame.bytes;
    frames += 1;
    if (frames > maxFrames) return { samples: frames * first.samples }; // too long in any case
  }
  if (statedFrames !== undefined && statedFrames > frames)
    throwBroken('The file is shorter than its header states.');
  const samples = Math.max(0, frames * first.samples - inaudibleSamples(file, start, first));
  return { samples };
}

/** Parses a frame header. Returns undefined if there is none. @throws RangeError when it is truncated */
function readFrame(file: ByteSource, offset: number): Frame | undefined {
  const head = file.bytes(offset, headerBytes);
  // 11 bits of sync, then version (2), layer (2), checksum (1), bit rate (4), sample rate (2), padding (1),
  // private (1) and channel mode (2).
  const word = head.readUInt32BE();
  const version = versions.get((word >>> 19) & 3);
  const layer = 4 - ((word >>> 17) & 3);
  const mpeg1Rate = mpeg1SampleRates[(word >>> 10) & 3];
  const bitrate = version?.bitrates[(word >>> 12) & 15];
  if (word >>> 21 !== 0x7ff || layer === 4) return undefined;
  if (version === undefined || mpeg1Rate === undefined || bitrate === undefined) return undefined;
  const { samples, sideInformationBytes } = version;
  const rate = mpeg1Rate / version.rateDivisor;
  const isMono = ((word >>> 6) & 3) === 3;
  const padding = (word >>> 9) & 1;
  return {
    bytes: bitrate === 0 ? 0 : Math.floor((samples * bytesPerKilobit * bitrate) / rate) + padding,
    samples,
    rate,
    sideInformationEnd: headerBytes + (isMono ? sideInformationBytes.mono : sideInformationBytes.stereo),
    layer,
  };
}

/** Checks the sync word first, to avoid searching for trailers after every frame. */
function isEndOfFrames(file: ByteSource, offset: number): boolean {
  const [first = 0, second = 0] = file.bytes(offset, 2);
  const hasSyncWord = first === 0xff && second >= 0xe0;
  return !hasSyncWord && isTrailer(file, offset);
}

/**
 * Returns the number of frames that a Xing, Info or VBRI header states; 0 if it states none, undefined
 * without such a header. The header is in a first frame without sound.
 */
function readStatedFrames(file: ByteSource, start: number, frame: Frame): number | undefined {
  const xing = file.bytes(start + frame.sideInformationEnd, 12);
  if (xing.length === 12 && /^(Xing|Info)/.test(xing.toString('latin1', 0, 4)))
    return (xing.readUInt32BE(4) & 1) === 1 ? xing.readUInt32BE(8) : 0;
  const vbri = file.bytes(start + headerBytes + 32, 18);
  return vbri.length === 18 && vbri.toString('latin1', 0, 4) === 'VBRI' ? vbri.readUInt32BE(14) : undefined;
}

/**
 * Returns the samples that an encoder added before the sound and after it to fill the last frame. The LAME
 * tag after a Xing or Info header has 12 bits for each (Mp3 Info Tag rev 1). Returns 0 without such a tag.
 */
function inaudibleSamples(file: ByteSource, start: number, frame: Frame): number {
  const offset = start + frame.sideInformationEnd;
  const xing = file.bytes(offset, 8);
  if (xing.length < 8 || !/^(Xing|Info)/.test(xing.toString('latin1', 0, 4))) return 0;
  const flags = xing.readUInt32BE(4);
  const fieldBytes = xingFields
    .filter(({ flag }) => (flags & flag) !== 0)
    .reduce((sum, { bytes }) => sum + bytes, 0);
  const tag = file.bytes(offset + 8 + fieldBytes, 24);
  if (tag.length < 24 || !/^(LAME|L3\.99|Lav[cf])/.test(tag.toString('latin1', 0, 5))) return 0;
  const delays = tag.readUIntBE(21, 3);
  return (delays >>> 12) + (delays & 0xfff);
}
