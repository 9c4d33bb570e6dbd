import { maxTrackPosition, visibleCharacter } from '@fulfilment/contracts';

const maxTitleCharacters = 200;
/** Length to which a text is cut before it is cleaned, so that the cleaning takes little time. */
const maxRawLength = 10_000;
// Control characters, format characters that affect neighbouring text, surrogates and private-use characters.
const unprintable = /[\p{Cc}\p{Cs}\p{Co}\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/gu;

/** Title and position of a track from the tags of its file. */
export interface TrackTags {
  /** NFC, one line, 1 to 200 characters; null if the file has none. */
  readonly title: string | null;
  /** 1 to 999; null if the file has none. */
  readonly position: number | null;
}

/** Sanitises untrusted tags, which may have any type. */
export function trackTags(title: unknown, position: unknown): TrackTags {
  return {
    title: typeof title === 'string' ? cleanTitle(title) : null,
    position:
      typeof position === 'number' &&
      Number.isInteger(position) &&
      position >= 1 &&
      position <= maxTrackPosition
        ? position
        : null,
  };
}

function cleanTitle(text: string): string | null {
  const cleaned = text
    .slice(0, maxRawLength)
    .replace(unprintable, ' ')
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .trim();
  const bounded = [...cleaned].slice(0, maxTitleCharacters).join('').trim();
  return visibleCharacter.test(bounded) ? bounded : null;
}
