import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { CreatorController } from './creator.controller.js';
import { CreatorsConsumer } from './creators.consumer.js';
import { ReadCreator } from './read-creator.js';
import { RecordCreator } from './record-creator.js';

@Module({
  imports: [CatalogueModule],
  controllers: [CreatorController],
  providers: [CreatorsConsumer, ReadCreator, RecordCreator],
})
export class ConnectedCreatorModule {}
