import type { ByteSource } from './byte-source.js';

export type AudioFormat = 'WAV' | 'AIFF' | 'FLAC' | 'MP3' | 'AAC' | 'M4A';

/** Limits the time for a file of many empty tags. Usual files have one. */
const maxTags = 100;

/**
 * Detects the format of a file by its first bytes, and where its audio starts after an optional ID3v2 tag.
 * File names and media types are ignored.
 */
export function detectAudioFormat(file: ByteSource): { format: AudioFormat; start: number } | undefined {
  const start = skipId3v2(file);
  const head = file.bytes(start, 12);
  const text = head.toString('latin1');
  if (/^RIFF[^]{4}WAVE/.test(text)) return { format: 'WAV', start };
  if (/^FORM[^]{4}AIF[FC]/.test(text)) return { format: 'AIFF', start };
  if (text.startsWith('fLaC')) return { format: 'FLAC', start };
  if (text.slice(4, 8) === 'ftyp') return { format: 'M4A', start };
  const firstFrame = skipZeros(file, start);
  const [first = 0, second = 0] = file.bytes(firstFrame, 2);
  if (first !== 0xff) return undefined;
  // ISO/IEC 13818-7 §6.2: an ADTS header has a sync word of 12 bits and a layer of 0, which MPEG audio does
  // not use.
  if ((second & 0xf6) === 0xf0) return { format: 'AAC', start: firstFrame };
  // ISO/IEC 11172-3 §2.4.2.3: MPEG audio has a sync word of 11 bits, then version and layer (III).
  return (second & 0xe6) === 0xe2 ? { format: 'MP3', start: firstFrame } : undefined;
}

/**
 * Returns the offset after the ID3v2 tags (ID3v2.4 §3.1). The last four of the ten bytes of a header have the
 * length of the rest, 7 bits each. The length does not include an optional footer of ten bytes.
 */
function skipId3v2(file: ByteSource): number {
  let offset = 0;
  for (let count = 0; count < maxTags; count += 1) {
    const head = file.bytes(offset, 10);
    if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') return offset;
    const length = head.subarray(6).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
    const footerBytes = (head.readUInt8(5) & 0x10) === 0 ? 0 : 10;
    offset += 10 + length + footerBytes;
  }
  return offset;
}

/** Returns the offset after the zeros that some encoders write between a tag and the first frame. */
function skipZeros(file: ByteSource, start: number): number {
  for (let offset = start; offset < file.size;) {
    const bytes = file.bytes(offset, 65_536);
    const found = bytes.findIndex((byte) => byte !== 0);
    if (found >= 0) return offset + found;
    offset += bytes.length;
  }
  return file.size;
}

/** The first bytes of tags at the end of a file: ID3v1, APE, Lyrics3, ID3v2 and its footer. */
const trailerNames = ['TAG', 'APETAGEX', 'LYRICSBEGIN', 'ID3', '3DI'];

/** Whether a tag begins at the offset, or only zeros follow it. */
export function isTrailer(file: ByteSource, offset: number): boolean {
  const text = file.bytes(offset, 11).toString('latin1');
  return trailerNames.some((name) => text.startsWith(name)) || skipZeros(file, offset) === file.size;
}
