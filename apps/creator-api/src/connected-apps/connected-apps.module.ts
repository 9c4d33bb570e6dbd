import { Module } from '@nestjs/common';
import { ConnectedAppsController } from './connected-apps.controller.js';
import { ReadConnectedApps } from './read-connected-apps.js';

@Module({ controllers: [ConnectedAppsController], providers: [ReadConnectedApps] })
export class ConnectedAppsModule {}
