/**
 * A visible character: not white space, not ignorable by default (UAX #44: joiners, variation selectors,
 * fillers), not a format character, and not the blank Braille cell (U+2800).
 */
export const visibleCharacter = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;
