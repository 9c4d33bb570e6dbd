import { Description } from '@fulfilment/api-reference';
import { IntegerField, TextField, UuidField } from '@fulfilment/http-service';
import { IsOptional } from 'class-validator';

export class CreateReleaseDto {
  @Description(
    'Its title, in Unicode code points: 60 emoji are 60. White space around it is removed, and does not count',
  )
  @TextField({ max: 60, normalize: true })
  title: string;

  @Description('1 Album, 2 Single, 3 EP, 4 Compilation, 5 Live, 6 Remix, 7 Mixtape, 8 Soundtrack')
  @IntegerField(1, 8)
  release_type_id: number;

  @Description('Its EAN, kept as it is sent; left out or null when it has none')
  @IsOptional()
  @TextField({ max: 32 })
  ean?: string;

  @Description("Whose release it is; without it, the connected creator's")
  @IsOptional()
  @UuidField()
  creator?: string;
}
