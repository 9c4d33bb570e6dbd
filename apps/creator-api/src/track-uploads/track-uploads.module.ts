import { Module } from '@nestjs/common';
import { ReadAudio } from './audio/read-audio.js';
import { ReadTrackUpload } from './read-track-upload.js';
import { RegisterTrackUpload } from './register-track-upload.js';
import { TrackUploadsController } from './track-uploads.controller.js';
import { UploadMeasurement } from './processing/upload-measurement.job.js';
import { UploadProcessing } from './processing/upload-processing.job.js';

@Module({
  controllers: [TrackUploadsController],
  providers: [
    ReadTrackUpload,
    RegisterTrackUpload,
    // Its constructor parameter is for tests; Nest cannot inject a URL.
    { provide: ReadAudio, useFactory: () => new ReadAudio() },
    UploadProcessing,
    UploadMeasurement,
  ],
})
export class TrackUploadsModule {}
