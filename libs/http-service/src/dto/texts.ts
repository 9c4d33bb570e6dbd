import { Field } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';

// eslint-disable-next-line no-control-regex -- control characters are what it is for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// What shows nothing of itself: joiners, variation selectors, fillers, the Braille cell without dots (UAX #44, Default_Ignorable_Code_Point).
const visible = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;
// Embeddings, overrides and isolates turn what stands around a title, too (UAX #9 §2); the marks of single characters do not.
const directionControls = /[\u202a-\u202e\u2066-\u2069]/;
const loneSurrogates = /\p{Surrogate}/u;
/** The same for readers of the reference: no control characters, and something else than white space. */
const text = String.raw`^[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$`;
const readableText = String.raw`^(?=.*\S)[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$`;
/** White space around it is removed before it is checked, so any may be there. */
const tidyText = String.raw`^\s*[^\s\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]([^\u0000-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]*[^\s\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069])?\s*$`;

/** UTF-16 code units of a code point. */
const maxUnitsPerCharacter = 2;
/**
 * UTF-16 code units for each character of a text before it is trimmed and composed. Longer texts are rejected as they are: the time of
 * NFC grows with the square of a run of combining marks.
 */
const maxUntidyUnits = 4;

export interface TextBounds {
  /** In Unicode code points; 60 emoji are 60. */
  readonly least?: number;
  readonly most: number;
  /** Trimmed and NFC, and without controls of direction, for names and titles. Default: kept as sent. */
  readonly tidy?: boolean;
  /** What the reference says it is, instead of a pattern; checked elsewhere. */
  readonly format?: 'uri';
}

/** A string within bounds, without control characters. What shows nothing, as white space alone, counts as empty. */
export function TextField({ least = 1, most, tidy = false, format }: TextBounds): PropertyDecorator {
  const problemWith = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return 'must be a string';
    if (value.length > maxUnitsPerCharacter * most) return `must be at most ${most} characters`;
    if (tidy && directionControls.test(value)) return 'must not contain controls of the direction of text';
    return textProblem(value, least, most);
  };
  const validate = Field({
    name: 'textField',
    schema: {
      type: 'string',
      ...(least > 0 && { minLength: least }),
      maxLength: most,
      ...(format === undefined ? { pattern: patternOf(least, tidy) } : { format }),
    },
    holds: (value) => problemWith(value) === undefined,
    reason: (value) => problemWith(value) ?? 'is not valid',
  });
  if (!tidy) return validate;
  const tidied = Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && value.length <= maxUntidyUnits * most
      ? value.trim().normalize('NFC')
      : value,
  );
  return applyDecorators(tidied, validate);
}

function patternOf(least: number, tidy: boolean): string {
  if (tidy) return tidyText;
  return least > 0 ? readableText : text;
}

function textProblem(given: string, least: number, most: number): string | undefined {
  if (controlCharacters.test(given) || loneSurrogates.test(given))
    return 'must not contain control characters';
  const length = [...given].length;
  if (length > most) return `must be at most ${most} characters`;
  if (least > 0 && !visible.test(given)) return 'must not be empty';
  return length < least ? `must be at least ${least} characters` : undefined;
}
