import { ScanStart, type ScanTimes } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import { setNewest } from '../../set-newest.js';

/** Bounds the memory: beyond it, the entry that was used least recently is deleted; its next scan is full. */
const maxSubscriptions = 50_000;

/** For each subscription, where its next scan for due deliveries starts (`ScanStart`). */
@Injectable()
export class DueScans {
  protected readonly times: ScanTimes = {}; // the defaults; a test overrides them
  private readonly scans = new Map<string, ScanStart>();

  scanFor(subscriptionId: string): ScanStart {
    const scan = this.scans.get(subscriptionId) ?? new ScanStart(this.times);
    setNewest(this.scans, subscriptionId, scan, maxSubscriptions);
    return scan;
  }
}
