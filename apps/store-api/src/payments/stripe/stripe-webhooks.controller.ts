import { BodyLimit, Public, RawBody, ReadRawBody } from '@fulfilment/http-service';
import { Controller, Headers, HttpCode, Ip, Post } from '@nestjs/common';
import { ReceiveStripeEvent } from './receive-stripe-event.js';

/** Only Stripe calls it, so it is not part of the Store API's reference. */
@Controller('webhooks/stripe')
export class StripeWebhooksController {
  constructor(private readonly receiveStripeEvent: ReceiveStripeEvent) {}

  @Post()
  @HttpCode(200)
  @Public()
  @ReadRawBody()
  @BodyLimit(64 * 1024)
  receive(
    @RawBody() body: Buffer,
    @Headers('stripe-signature') signature: string | undefined,
    @Ip() ip: string,
  ) {
    return this.receiveStripeEvent.run(body, signature, ip);
  }
}
