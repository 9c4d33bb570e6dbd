import { Module } from '@nestjs/common';
import { ApplyStockEvents } from './stock/apply-stock-events.js';
import { ApproveRelease } from './publishing/approve-release.js';
import { ReadReleases } from './reading/read-releases.js';
import { ReleasesController } from './releases.controller.js';
import { SellableProducts } from './sellable-products.js';
import { SetProductStatus } from './publishing/set-product-status.js';
import { Stock } from './stock/stock.js';

const forOtherFeatures = [ApplyStockEvents, ApproveRelease, SellableProducts, SetProductStatus, Stock];

@Module({
  controllers: [ReleasesController],
  providers: [ReadReleases, ...forOtherFeatures],
  exports: forOtherFeatures,
})
export class CatalogueModule {}
