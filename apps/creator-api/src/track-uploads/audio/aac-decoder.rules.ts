import { InvalidAudio, broken } from './invalid-audio.js';

/** ISO/IEC 14496-3 table 1.18, by index. */
export const samplingFrequencies = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
] as const;
const explicitFrequency = 15;
/**
 * ISO/IEC 14496-1 table 5: MPEG-4 audio and the profiles of MPEG-2 AAC. An MPEG-4 file may also contain MP3.
 */
const aacStreams: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68]);
/**
 * ISO/IEC 14496-3 table 1.17: Main, LC, SSR and LTP have the same frame format. SBR (5), or SBR with PS (29),
 * may extend them.
 */
const coreTypes: ReadonlySet<number> = new Set([1, 2, 3, 4]);
const bandwidthExtensions: ReadonlySet<number> = new Set([5, 29]);
const extensionSync = 0x2b7;

/** The decoder configuration of an AAC stream. */
export interface AacDecoder {
  /** Samples per second of the decoder's output. */
  readonly sampleRate: number;
  /** Samples per second of the core codec. SBR doubles both the samples of a frame and the rate. */
  readonly coreRate: number;
  readonly samplesPerFrame: 960 | 1024;
  /** Undefined when the configuration does not contain the number. */
  readonly channels: number | undefined;
}

/**
 * @param descriptors of the elementary stream (ISO/IEC 14496-1 §7.2.6), including the configuration of
 * ISO/IEC 14496-3 §1.6.2.1
 * @throws InvalidAudio; RangeError when they end within a field
 */
export function aacDecoder(descriptors: Buffer): AacDecoder {
  const bits = new Bits(decoderConfiguration(descriptors));
  const firstType = objectType(bits);
  const coreRate = frequency(bits);
  const channels = bits.take(4);
  const explicit = bandwidthExtensions.has(firstType);
  const extendedRate = explicit ? frequency(bits) : undefined;
  if (!coreTypes.has(explicit ? objectType(bits) : firstType)) return unsupportedCodec();
  const samplesPerFrame = bits.take(1) === 1 ? 960 : 1024;
  if (bits.take(1) === 1) bits.take(14); // the delay of a core coder
  bits.take(1);
  const sampleRate = extendedRate ?? (channels === 0 ? undefined : trailingSbrRate(bits)) ?? coreRate;
  if (sampleRate !== coreRate && sampleRate !== 2 * coreRate) return broken('The audio format is invalid.');
  return { sampleRate, coreRate, samplesPerFrame, channels: channelsBy(channels) };
}

/** ISO/IEC 14496-3 §1.6.5: SBR signalled after the configuration, where older decoders ignore it. */
function trailingSbrRate(bits: Bits): number | undefined {
  if (bits.left < 17 || bits.take(11) !== extensionSync) return undefined;
  return bandwidthExtensions.has(objectType(bits)) && bits.take(1) === 1 ? frequency(bits) : undefined;
}

/** ISO/IEC 14496-3 table 1.19; 0 means that a list of channels follows. */
function channelsBy(configuration: number): number | undefined {
  return [undefined, 1, 2, 3, 4, 5, 6, 8][configuration];
}

/** Nested descriptors. Each has a tag, a length in 7 bits per byte, and fields. */
function decoderConfiguration(descriptors: Buffer): Buffer {
  const [stream, decoder, configuration] = [0x03, 0x04, 0x05];
  const fieldsBefore = new Map([
    [stream, 3],
    [decoder, 13],
  ]);
  for (let at = 0; at + 1 < descriptors.length;) {
    const tag = descriptors.readUInt8(at);
    let length = 0;
    for (at += 1; at < descriptors.length; at += 1) {
      const byte = descriptors.readUInt8(at);
      length = length * 128 + (byte & 0x7f);
      if (byte < 0x80) break;
    }
    at += 1;
    if (tag === decoder && !aacStreams.has(descriptors.readUInt8(at))) return unsupportedCodec();
    if (tag === configuration) return descriptors.subarray(at, at + length);
    at += fieldsBefore.get(tag) ?? length;
  }
  return broken('The file has no audio format description.');
}

function objectType(bits: Bits): number {
  const type = bits.take(5);
  return type === 31 ? 32 + bits.take(6) : type;
}

function frequency(bits: Bits): number {
  const index = bits.take(4);
  return (
    (index === explicitFrequency ? bits.take(24) : samplingFrequencies[index]) ||
    broken('The audio format is invalid.')
  );
}

function unsupportedCodec(): never {
  throw new InvalidAudio('unsupported_codec', 'Only AAC and HE-AAC audio is supported in MPEG-4 files.');
}

/** Reads consecutive unsigned numbers of any number of bits. */
class Bits {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get left(): number {
    return this.bytes.length * 8 - this.at;
  }

  /** @throws RangeError at the end */
  take(count: number): number {
    let value = 0;
    for (let taken = 0; taken < count; taken += 1) {
      value = value * 2 + ((this.bytes.readUInt8(this.at >>> 3) >>> (7 - (this.at & 7))) & 1);
      this.at += 1;
    }
    return value;
  }
}
