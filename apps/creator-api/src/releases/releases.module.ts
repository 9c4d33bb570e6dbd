import { Module } from '@nestjs/common';
import { CreateRelease } from './create-release.js';
import { ReleasesController } from './releases.controller.js';

@Module({ controllers: [ReleasesController], providers: [CreateRelease] })
export class ReleasesModule {}
