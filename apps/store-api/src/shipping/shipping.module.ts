import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { QuoteRates } from './quote-rates.js';
import { ReadServices } from './read-services.js';
import { ShippingController } from './shipping.controller.js';
import { SealedQuotes } from './sealed-quotes.js';

@Module({
  imports: [CatalogueModule],
  controllers: [ShippingController],
  providers: [
    QuoteRates,
    ReadServices,
    {
      provide: SealedQuotes,
      inject: [CONFIG],
      useFactory: ({ QUOTE_SIGNING_KEY }: StoreApiSettings) => new SealedQuotes(QUOTE_SIGNING_KEY),
    },
  ],
  exports: [SealedQuotes],
})
export class ShippingModule {}
