import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { QuoteRates } from './quote-rates.js';
import { ReadServices } from './read-services.js';
import { ShippingController } from './shipping.controller.js';
import { ShippingQuotes } from './shipping-quotes.js';

@Module({
  imports: [CatalogueModule],
  controllers: [ShippingController],
  providers: [QuoteRates, ReadServices, ShippingQuotes],
  exports: [ShippingQuotes],
})
export class ShippingModule {}
