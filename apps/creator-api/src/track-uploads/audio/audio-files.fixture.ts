import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Spool } from '../fetching/spool.js';
import { InvalidAudio } from './invalid-audio.js';
import { sample } from './audio-samples.fixture.js';
import { describeAudio } from './describe-audio.js';

const directory = join(tmpdir(), `describe-audio-${randomUUID()}`);
const spool = new Spool(directory);
afterAll(() => rm(directory, { recursive: true, force: true }));

export async function describeFile(bytes: Buffer) {
  const file = await spool.open();
  try {
    await file.append(bytes);
    return await describeAudio(file.fd, file.size);
  } finally {
    await file.close();
  }
}

/** Returns the code with which the file is rejected, or a text with its format if it is accepted. */
export async function outcomeOf(bytes: Buffer): Promise<string> {
  try {
    const { audio } = await describeFile(bytes);
    return `accepted: ${audio.container}, ${audio.duration_seconds} s`;
  } catch (error) {
    if (error instanceof InvalidAudio) return error.code;
    throw error;
  }
}

/** Returns a changed copy. */
export function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

/** AAC LC, 16 kHz, mono. */
const toneConfiguration = '140856e500';

/**
 * Returns tone.m4a, with another decoder configuration if one is given. Its edit list is hidden (boxes
 * renamed to `free`), so the duration is that of the movie, 12.064 s including padding.
 */
export function m4aWith({ configuration = toneConfiguration }): Buffer {
  return changed(sample('tone.m4a'), (copy) => {
    copy.write(configuration, copy.indexOf(toneConfiguration, 0, 'hex'), 'hex');
    copy.write('free', copy.indexOf('edts'));
    copy.write('free', copy.indexOf('elst'));
    copy.writeUInt32BE(12_064, copy.indexOf('mvhd') + 20); // the duration in ms
  });
}

/**
 * Adds an `iTunSMPB` tag with the number of samples before and after the sound. The boxes that contain tags
 * end with the file, so the tag is appended and their lengths are raised.
 */
export function m4aWithGaps(m4a: Buffer, { before, after }: { before: number; after: number }): Buffer {
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');
  const text = ` 00000000 ${hex(before)} ${hex(after)} 0000000000000000`;
  const box = (type: string, content: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + content.length);
    head.write(type, 4);
    return Buffer.concat([head, content]);
  };
  const parts: [string, Buffer, string][] = [
    ['mean', Buffer.alloc(4), 'com.apple.iTunes'],
    ['name', Buffer.alloc(4), 'iTunSMPB'],
    ['data', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]), text],
  ];
  const tag = box(
    '----',
    Buffer.concat(parts.map(([type, head, value]) => box(type, Buffer.concat([head, Buffer.from(value)])))),
  );
  const longer = changed(m4a, (copy) => {
    for (const type of ['moov', 'udta', 'meta', 'ilst']) {
      const length = copy.indexOf(type) - 4;
      copy.writeUInt32BE(copy.readUInt32BE(length) + tag.length, length);
    }
  });
  return Buffer.concat([longer, tag]);
}

export const id3v2 = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\x02\0', 'latin1'), Buffer.alloc(256)]);
export const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);
