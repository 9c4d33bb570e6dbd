import { Field } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';

// eslint-disable-next-line no-control-regex -- control characters are what it is for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const loneSurrogates = /\p{Surrogate}/u;
/** The same for readers of the reference: no control characters, and something else than white space. */
const text = String.raw`^[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$`;
const readableText = String.raw`^(?=.*\S)[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$`;

export interface TextBounds {
  /** In Unicode code points; 60 emoji are 60. */
  readonly least?: number;
  readonly most: number;
  /** Trimmed and NFC, for names and titles. Default: kept as sent. */
  readonly tidy?: boolean;
}

/** A string within bounds, without control characters. White space alone counts as empty. */
export function TextField({ least = 1, most, tidy = false }: TextBounds): PropertyDecorator {
  const validate = Field({
    name: 'textField',
    schema: {
      type: 'string',
      ...(least > 0 && { minLength: least }),
      maxLength: most,
      pattern: least > 0 ? readableText : text,
    },
    holds: (value) => typeof value === 'string' && problemWith(value, least, most) === undefined,
    reason: (value) =>
      typeof value === 'string' ? (problemWith(value, least, most) ?? 'is not valid') : 'must be a string',
  });
  if (!tidy) return validate;
  const tidied = Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().normalize('NFC') : value,
  );
  return applyDecorators(tidied, validate);
}

function problemWith(given: string, least: number, most: number): string | undefined {
  if (controlCharacters.test(given) || loneSurrogates.test(given))
    return 'must not contain control characters';
  const length = [...given].length;
  if (length > most) return `must be at most ${most} characters`;
  if (least > 0 && given.trim() === '') return 'must not be empty';
  return length < least ? `must be at least ${least} characters` : undefined;
}
