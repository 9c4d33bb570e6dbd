import { Global, Module } from '@nestjs/common';
import { BrowserSessions } from './browser-sessions.js';

@Global()
@Module({ providers: [BrowserSessions], exports: [BrowserSessions] })
export class SessionsModule {}
