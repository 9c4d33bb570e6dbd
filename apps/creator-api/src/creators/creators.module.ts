import { Module } from '@nestjs/common';
import { CreatorsController } from './creators.controller.js';
import { ListCreators } from './list-creators.js';

@Module({ controllers: [CreatorsController], providers: [ListCreators] })
export class CreatorsModule {}
