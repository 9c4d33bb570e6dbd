import { type Boxes, boxesIn, find } from './mp4-boxes.rules.js';

export interface HeldSound {
  readonly movie: Boxes;
  readonly track: Boxes;
  /** Ticks a second of the track's media. */
  readonly timescale: number;
  /** Of what the decoder makes. */
  readonly sampleRate: number;
  /** Seconds of all its samples. */
  readonly held: number;
}

/**
 * Seconds of what a player lets be heard: an encoder of AAC begins with samples of its own, and fills the last frame. The edit list says which
 * (ISO/IEC 14496-12 §8.6.6), else iTunes' tag. Either can only take away from what the file holds.
 */
export function heardSeconds(sound: HeldSound): number {
  return Math.min(sound.held, editedSeconds(sound) ?? taggedSeconds(sound) ?? sound.held);
}

function editedSeconds({ movie, track, timescale, held }: HeldSound): number | undefined {
  const list = find(boxesIn(find(track, 'edts') ?? Buffer.alloc(0)), 'elst');
  const ticksOfMovie = movieTimescale(find(movie, 'mvhd'));
  if (list === undefined || ticksOfMovie === 0) return undefined;
  const long = list[0] === 1;
  const entryBytes = long ? 20 : 12;
  const count = list.readUInt32BE(4);
  let seconds = 0;
  for (let at = 8; at < 8 + count * entryBytes; at += entryBytes) {
    const ticks = long ? Number(list.readBigUInt64BE(at)) : list.readUInt32BE(at);
    const from = long ? Number(list.readBigInt64BE(at + 8)) : list.readInt32BE(at + 4);
    if (from < 0) continue; // silence of the player's
    const behind = Math.max(0, held - from / timescale);
    seconds += ticks === 0 ? behind : Math.min(behind, ticks / ticksOfMovie); // 0 is all that is left
  }
  return count === 0 ? undefined : seconds;
}

function movieTimescale(header: Buffer | undefined): number {
  return header?.readUInt32BE(header[0] === 1 ? 20 : 12) ?? 0;
}

/** iTunes' `iTunSMPB`: hexadecimal numbers, the second and third of which are the samples before and behind the sound. */
function taggedSeconds({ movie, sampleRate, held }: HeldSound): number | undefined {
  const tags = find(movie, 'udta') ?? Buffer.alloc(0);
  const named = tags.indexOf('iTunSMPB');
  const data = named < 0 ? -1 : tags.indexOf('data', named);
  if (data < 0) return undefined;
  const text = tags.toString('latin1', data + 12, data + 12 + 64); // behind its name, kind and language
  const [, before, behind] = /^ ?[0-9a-f]{8} ([0-9a-f]{8}) ([0-9a-f]{8}) /i.exec(text) ?? [];
  if (before === undefined || behind === undefined) return undefined;
  return Math.max(0, held - (Number.parseInt(before, 16) + Number.parseInt(behind, 16)) / sampleRate);
}
