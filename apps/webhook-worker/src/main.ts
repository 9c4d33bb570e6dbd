import { relaxedTargetSettings } from '@fulfilment/guarded-fetch';
import { readConfig } from '@fulfilment/runtime';
import { runService } from '@fulfilment/service-host';
import { webhookWorkerSettings } from './config.js';
import { WebhookWorkerModule } from './webhook-worker.module.js';

const config = readConfig(webhookWorkerSettings);
await runService(WebhookWorkerModule.forRoot(config), relaxedTargetSettings(config));
