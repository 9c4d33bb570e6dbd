import { Field } from '@fulfilment/api-reference';
import { visibleCharacter } from '@fulfilment/contracts';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';

// eslint-disable-next-line no-control-regex -- it matches control characters
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// Embeddings, overrides and isolates affect the text around a title (UAX #9 §2); direction marks do not.
const directionControls = /[\u202a-\u202e\u2066-\u2069]/;
export const unpairedSurrogate = /\p{Surrogate}/u;
/** Pattern for the API reference: no control characters. */
const textPattern = String.raw`^[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$`;
/** The same, with at least one character that is not white space. */
const visibleTextPattern = String.raw`^(?=.*\S)[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$`;
/** The same, without direction controls. White space around it is removed before validation. */
const normalizedTextPattern = String.raw`^\s*[^\s\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]([^\u0000-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]*[^\s\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069])?\s*$`;

/** Maximum UTF-16 code units of one code point. */
const maxUnitsPerCharacter = 2;
/**
 * Maximum UTF-16 code units per character before normalisation. A longer text is not normalised, and rejected
 * as too long: the time of NFC grows with the square of a run of combining marks.
 */
const maxUnnormalizedUnits = 4;

export interface TextBounds {
  /** Length in Unicode code points. Default: 1. */
  readonly min?: number;
  readonly max: number;
  /** Trims, converts to NFC and rejects bidirectional controls, for names and titles. Default: false. */
  readonly normalize?: boolean;
  /** JSON Schema format in place of a pattern. This field does not validate it. */
  readonly format?: 'uri';
}

/** A string within bounds, without control characters. One without visible characters counts as empty. */
export function TextField({ min = 1, max, normalize = false, format }: TextBounds): PropertyDecorator {
  const problemWith = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return 'must be a string';
    if (value.length > maxUnitsPerCharacter * max) return `must be at most ${max} characters`;
    if (normalize && directionControls.test(value)) return 'must not contain text direction controls';
    return textProblem(value, min, max);
  };
  const validate = Field({
    name: 'textField',
    schema: {
      type: 'string',
      ...(min > 0 && { minLength: min }),
      maxLength: max,
      ...(format === undefined ? { pattern: patternOf(min, normalize) } : { format }),
    },
    holds: (value) => problemWith(value) === undefined,
    reason: (value) => problemWith(value) ?? 'is not valid',
  });
  if (!normalize) return validate;
  const transform = Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && value.length <= maxUnnormalizedUnits * max
      ? value.trim().normalize('NFC')
      : value,
  );
  return applyDecorators(transform, validate);
}

function patternOf(min: number, normalize: boolean): string {
  if (normalize) return normalizedTextPattern;
  return min > 0 ? visibleTextPattern : textPattern;
}

/** Returns the `reason` why a text is invalid; undefined for a valid one. */
export function textProblem(text: string, min: number, max: number): string | undefined {
  if (controlCharacters.test(text)) return 'must not contain control characters';
  if (unpairedSurrogate.test(text)) return 'must not contain unpaired surrogates';
  const length = [...text].length;
  if (length > max) return `must be at most ${max} characters`;
  if (min > 0 && !visibleCharacter.test(text)) return 'must not be empty';
  return length < min ? `must be at least ${min} characters` : undefined;
}
