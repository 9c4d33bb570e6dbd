import { Module } from '@nestjs/common';
import { ApplyStockEvents } from './apply-stock-events.js';
import { ApproveRelease } from './approve-release.js';
import { ApproveTestReleases } from './approve-test-releases.js';
import { CreatorNames } from './creator-names.js';
import { ChangeProducts } from './change-products.js';
import { CreateEdition } from './create-edition.js';
import { WriteTrackListing } from './write-track-listing.js';
import { ReadReleases } from './read-releases.js';
import { ReleasesController } from './releases.controller.js';
import { SellableProducts } from './sellable-products.js';
import { Stock } from './stock.js';

const forOtherFeatures = [
  ApplyStockEvents,
  ApproveRelease,
  ApproveTestReleases,
  CreatorNames,
  ChangeProducts,
  CreateEdition,
  WriteTrackListing,
  SellableProducts,
  Stock,
];

@Module({
  controllers: [ReleasesController],
  providers: [ReadReleases, ...forOtherFeatures],
  exports: forOtherFeatures,
})
export class CatalogueModule {}
