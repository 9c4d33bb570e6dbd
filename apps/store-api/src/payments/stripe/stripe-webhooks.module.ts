import { Module } from '@nestjs/common';
import { ReceiveStripeEvent } from './receive-stripe-event.js';
import { StripeWebhooksController } from './stripe-webhooks.controller.js';

@Module({ controllers: [StripeWebhooksController], providers: [ReceiveStripeEvent] })
export class StripeWebhooksModule {}
