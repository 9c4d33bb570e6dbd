import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { registerDecorator } from 'class-validator';

// eslint-disable-next-line no-control-regex -- control characters are what it is for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const loneSurrogates = /\p{Surrogate}/u;

export interface TextBounds {
  /** In Unicode code points; 60 emoji are 60. */
  readonly least?: number;
  readonly most: number;
  /** Trimmed and NFC, for names and titles. Default: kept as sent. */
  readonly tidy?: boolean;
}

/** A string within bounds, without control characters. White space alone counts as empty. */
export function TextField({ least = 1, most, tidy = false }: TextBounds): PropertyDecorator {
  const validate: PropertyDecorator = (target, property) => {
    registerDecorator({
      name: 'textField',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) =>
          typeof value === 'string' && problemWith(value, least, most) === undefined,
        defaultMessage: (context) =>
          typeof context?.value === 'string'
            ? (problemWith(context.value, least, most) ?? 'is not valid')
            : 'must be a string',
      },
    });
  };
  if (!tidy) return validate;
  const tidied = Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().normalize('NFC') : value,
  );
  return applyDecorators(tidied, validate);
}

function problemWith(text: string, least: number, most: number): string | undefined {
  if (controlCharacters.test(text) || loneSurrogates.test(text)) return 'must not contain control characters';
  const length = [...text].length;
  if (length > most) return `must be at most ${most} characters`;
  if (least > 0 && text.trim() === '') return 'must not be empty';
  return length < least ? `must be at least ${least} characters` : undefined;
}
