import { Module } from '@nestjs/common';
import { DispatchJobs } from './dispatch-jobs.js';
import { DispatchQueue } from './dispatch-queue.js';

@Module({ providers: [DispatchJobs, DispatchQueue], exports: [DispatchQueue] })
export class DispatchQueueModule {}
