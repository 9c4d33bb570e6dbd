import { type Boxes, boxesIn, find } from './mp4-boxes.rules.js';

export interface TrackSound {
  readonly movie: Boxes;
  readonly track: Boxes;
  /** Ticks per second of the track's media. */
  readonly timescale: number;
  /** Samples per second of the decoder's output. */
  readonly sampleRate: number;
  /** Duration of all samples. */
  readonly totalSeconds: number;
}

/**
 * Seconds that a player makes audible. AAC encoders add priming samples and pad the last frame. The edit list
 * (ISO/IEC 14496-12 §8.6.6), or else the tag of iTunes, defines which. Neither can exceed the duration of the
 * samples.
 */
export function audibleSeconds(sound: TrackSound): number {
  return Math.min(sound.totalSeconds, editedSeconds(sound) ?? taggedSeconds(sound) ?? sound.totalSeconds);
}

function editedSeconds({ movie, track, timescale, totalSeconds }: TrackSound): number | undefined {
  const list = find(boxesIn(find(track, 'edts') ?? Buffer.alloc(0)), 'elst');
  const movieTicksPerSecond = movieTimescale(find(movie, 'mvhd'));
  if (list === undefined || movieTicksPerSecond === 0) return undefined;
  const long = list[0] === 1;
  const entryBytes = long ? 20 : 12;
  const count = list.readUInt32BE(4);
  let seconds = 0;
  for (let at = 8; at < 8 + count * entryBytes; at += entryBytes) {
    const ticks = long ? Number(list.readBigUInt64BE(at)) : list.readUInt32BE(at);
    const from = long ? Number(list.readBigInt64BE(at + 8)) : list.readInt32BE(at + 4);
    if (from < 0) continue; // an empty edit: silence
    const remaining = Math.max(0, totalSeconds - from / timescale);
    // 0 means until the end.
    seconds += ticks === 0 ? remaining : Math.min(remaining, ticks / movieTicksPerSecond);
  }
  return count === 0 ? undefined : seconds;
}

function movieTimescale(header: Buffer | undefined): number {
  return header?.readUInt32BE(header[0] === 1 ? 20 : 12) ?? 0;
}

/**
 * iTunes' `iTunSMPB`: hexadecimal numbers. The second and third are the samples before and after the sound.
 */
function taggedSeconds({ movie, sampleRate, totalSeconds }: TrackSound): number | undefined {
  const tags = find(movie, 'udta') ?? Buffer.alloc(0);
  const named = tags.indexOf('iTunSMPB');
  const data = named < 0 ? -1 : tags.indexOf('data', named);
  if (data < 0) return undefined;
  const text = tags.toString('latin1', data + 12, data + 12 + 64); // after its name, type and language
  const [, before, after] = /^ ?[0-9a-f]{8} ([0-9a-f]{8}) ([0-9a-f]{8}) /i.exec(text) ?? [];
  if (before === undefined || after === undefined) return undefined;
  return Math.max(0, totalSeconds - (Number.parseInt(before, 16) + Number.parseInt(after, 16)) / sampleRate);
}
