import { Operation } from '@fulfilment/api-reference';
import { NoScopes, BodyLimit, type Caller, CurrentCaller, WithPathErrors } from '@fulfilment/http-service';
import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ReadTrackUpload } from './read-track-upload.js';
import { RegisterTrackUpload } from './register-track-upload.js';
import { RegisterTrackUploadDto, ReleasePath, TrackUploadPath } from './track-upload.dto.js';
import * as reference from './track-uploads.reference.js';

@Controller('api/v1')
@NoScopes()
export class TrackUploadsController {
  constructor(
    private readonly registerTrackUpload: RegisterTrackUpload,
    private readonly readTrackUpload: ReadTrackUpload,
  ) {}

  @Post('releases/:id/track-upload')
  @HttpCode(202)
  @BodyLimit(16 * 1024)
  @WithPathErrors(ReleasePath)
  @Operation(reference.registerTrackUpload)
  register(
    @CurrentCaller() caller: Caller,
    @Param() { id }: ReleasePath,
    @Body() upload: RegisterTrackUploadDto,
  ) {
    return this.registerTrackUpload.run(caller, id, upload);
  }

  @Get('track-uploads/:id')
  @Operation(reference.readTrackUpload)
  read(@CurrentCaller() caller: Caller, @Param() { id }: TrackUploadPath) {
    return this.readTrackUpload.run(caller, id);
  }
}
