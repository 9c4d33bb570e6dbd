/**
 * A character that shows something. Joiners, variation selectors, fillers (UAX #44,
 * Default_Ignorable_Code_Point) and the empty Braille cell do not.
 */
export const visibleCharacter = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;
