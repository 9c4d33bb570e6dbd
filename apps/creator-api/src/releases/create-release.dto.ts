import { IntegerField, TextField, UuidField } from '@fulfilment/http-service';
import { IsOptional } from 'class-validator';

export class CreateReleaseDto {
  @TextField({ most: 60, tidy: true }) title: string;
  /** 1 Album, 2 Single, 3 EP, 4 Compilation, 5 Live, 6 Remix, 7 Mixtape, 8 Soundtrack. */
  @IntegerField(1, 8) release_type_id: number;
  @IsOptional() @TextField({ most: 32 }) ean?: string;
  /** Whose release it is; without it, the connected creator's. */
  @IsOptional() @UuidField() creator?: string;
}
