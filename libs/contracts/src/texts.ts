/** A visible character: no joiner, variation selector, filler (UAX #44) or empty Braille cell. */
export const visibleCharacter = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;
