import { IsEmail, IsIn, IsOptional } from 'class-validator';
import { dtoSchema } from './dto-schema.js';
import { Description, Field, NestedDto } from './field.js';

const atMostTen = Field({
  name: 'atMostTen',
  schema: { type: 'string', maxLength: 10 },
  holds: (value) => typeof value === 'string' && value.length <= 10,
  reason: () => 'must be short',
});

class InnerDto {
  @Description('A word') @atMostTen word: string;
}
class BaseDto {
  @Description('Which page', '2') @IsOptional() @IsIn(['1', '2']) page: string = '1';
}
class OuterDto extends BaseDto {
  @Description('What it holds')
  @NestedDto(() => InnerDto)
  // `dtoSchema` finds a member by its checks; `NestedDto` is not one.
  @Field({ name: 'any', schema: { type: 'object' }, holds: () => true, reason: () => '' })
  inner: InnerDto;

  @Description('A word') @IsOptional() @atMostTen word?: string;
}
class SilentDto {
  @atMostTen word: string;
}
class UnknownCheckDto {
  @Description('An address') @IsEmail() email: string;
}

describe('the schema of a DTO', () => {
  it('contains the checks of its decorators, with its own members before the inherited ones', () => {
    const { schema, schemas } = dtoSchema(OuterDto);
    expect(schema).toEqual({
      type: 'object',
      properties: {
        inner: { $ref: '#/components/schemas/InnerRequest', description: 'What it holds' },
        word: { type: 'string', maxLength: 10, description: 'A word' },
        page: { type: 'string', enum: ['1', '2'], default: '1', description: 'Which page', examples: ['2'] },
      },
      required: ['inner'],
    });
    expect(Object.keys(schema.properties ?? {})).toEqual(['inner', 'word', 'page']);
    expect(Object.keys(schemas)).toEqual(['InnerRequest']);
  });

  it('rejects a member without a description', () => {
    expect(() => dtoSchema(SilentDto)).toThrow('SilentDto.word has no @Description().');
  });

  it('rejects an unknown check', () => {
    expect(() => dtoSchema(UnknownCheckDto)).toThrow(
      'UnknownCheckDto.email is checked by isEmail, which has no schema.',
    );
  });
});
