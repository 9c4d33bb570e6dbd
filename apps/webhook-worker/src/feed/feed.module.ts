import { Module } from '@nestjs/common';
import { FeedController } from './feed.controller.js';
import { ReadEvents } from './read-events.js';
import { WaitingReaders } from './waiting-readers.js';

@Module({ controllers: [FeedController], providers: [ReadEvents, WaitingReaders] })
export class FeedModule {}
