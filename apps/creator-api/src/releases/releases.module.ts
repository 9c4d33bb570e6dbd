import { Module } from '@nestjs/common';
import { CreateRelease } from './create-release.js';
import { ReadReleases } from './read-releases.js';
import { ReleasesController } from './releases.controller.js';

@Module({ controllers: [ReleasesController], providers: [CreateRelease, ReadReleases] })
export class ReleasesModule {}
