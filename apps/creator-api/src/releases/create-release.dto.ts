import { Description } from '@fulfilment/api-reference';
import { IntegerField, TextField, UuidField } from '@fulfilment/http-service';
import { IsOptional } from 'class-validator';

export class CreateReleaseDto {
  @Description(
    'The title, 1 to 60 Unicode code points. Leading and trailing white space is removed and does not count',
  )
  @TextField({ max: 60, normalize: true })
  title: string;

  @Description(
    'Release type: 1 Album, 2 Single, 3 EP, 4 Compilation, 5 Live, 6 Remix, 7 Mixtape, 8 Soundtrack',
  )
  @IntegerField(1, 8)
  release_type_id: number;

  @Description('The EAN, stored as sent; omit it or send null if there is none')
  @IsOptional()
  @TextField({ max: 32 })
  ean?: string;

  @Description('The creator of the release; by default the creator that the access token is connected to')
  @IsOptional()
  @UuidField()
  creator?: string;
}
