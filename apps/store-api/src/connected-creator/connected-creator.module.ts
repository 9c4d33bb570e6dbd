import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { CreatorController } from './creator.controller.js';
import { CreatorMessagesConsumer } from './creator-messages.consumer.js';
import { ReadCreator } from './read-creator.js';

@Module({
  imports: [CatalogueModule],
  controllers: [CreatorController],
  providers: [CreatorMessagesConsumer, ReadCreator],
})
export class ConnectedCreatorModule {}
