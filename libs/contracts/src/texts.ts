/** A visible character: no white space, joiner, variation selector, filler (UAX #44), blank Braille cell. */
export const visibleCharacter = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;
