import { Global, Module } from '@nestjs/common';
import { Visibility } from './visibility.js';

@Global()
@Module({ providers: [Visibility], exports: [Visibility] })
export class VisibilityModule {}
