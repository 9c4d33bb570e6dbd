import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsOptional,
  IsString,
  registerDecorator,
} from 'class-validator';

const mostEvents = 100;
const mostSecretCharacters = 256;
const mostUrlCharacters = 2048;
const loneSurrogate = /\p{Surrogate}/u;

/** Any Unicode text of 1 to 256 code points, kept byte for byte. A lone surrogate has no UTF-8 bytes, so it cannot key a signature. */
function SecretField(): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'secretField',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) =>
          typeof value === 'string' &&
          value !== '' &&
          !loneSurrogate.test(value) &&
          [...value].length <= mostSecretCharacters,
        defaultMessage: () => `must be a string of 1 to ${mostSecretCharacters} characters`,
      },
    });
  };
}

/** Its shape; whether it may be called is judged by the guarded client. */
function UrlField(): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'urlField',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) =>
          typeof value === 'string' && value !== '' && [...value].length <= mostUrlCharacters,
        defaultMessage: () => `must be a URL of at most ${mostUrlCharacters} characters`,
      },
    });
  };
}

export class CreateSubscriptionDto {
  @ArrayMaxSize(mostEvents)
  @IsString({ each: true, message: 'must be an array of event names' })
  @ArrayNotEmpty({ message: 'must name at least one event' })
  @IsArray({ message: 'must be an array of event names' })
  events: string[];

  @UrlField() url: string;

  @SecretField() secret: string;
}

export class UpdateSubscriptionDto {
  @IsOptional()
  @ArrayMaxSize(mostEvents)
  @IsString({ each: true, message: 'must be an array of event names' })
  @ArrayNotEmpty({ message: 'must name at least one event' })
  @IsArray({ message: 'must be an array of event names' })
  events?: string[];

  @IsOptional() @UrlField() url?: string;

  @IsOptional() @SecretField() secret?: string;

  @IsOptional()
  @IsIn(['active', 'disabled'], { message: 'must be active or disabled' })
  status?: 'active' | 'disabled';
}
