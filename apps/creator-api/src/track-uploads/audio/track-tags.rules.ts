import { maxTrackPosition } from '@fulfilment/contracts';

const mostTitleCharacters = 200;
// Control and format characters that move what stands beside them, and what is no character.
const unprintable = /[\p{Cc}\p{Cs}\p{Co}\u2028-\u202e\u2060-\u206f\ufeff]+/gu;

/** What a file's tags say of the track, for people to read. */
export interface TrackTags {
  /** NFC, on one line, 1 to 200 characters; null when the file says none. */
  readonly title: string | null;
  /** 1 to 999; null when the file says none. */
  readonly position: number | null;
}

/** Tags are what strangers wrote: bounded, without control characters, and never believed to be a number. */
export function trackTags(title: unknown, position: unknown): TrackTags {
  return {
    title: typeof title === 'string' ? tidyTitle(title) : null,
    position:
      typeof position === 'number' &&
      Number.isInteger(position) &&
      position >= 1 &&
      position <= maxTrackPosition
        ? position
        : null,
  };
}

function tidyTitle(text: string): string | null {
  const tidy = text.slice(0, 10_000).replace(unprintable, ' ').normalize('NFC').replace(/\s+/gu, ' ').trim();
  const bounded = [...tidy].slice(0, mostTitleCharacters).join('').trim();
  return bounded === '' ? null : bounded;
}
