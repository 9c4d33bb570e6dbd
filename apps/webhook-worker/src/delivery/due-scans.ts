import { ScanStart, type ScanTimes } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';

const maxSubscriptions = 50_000;

/** From which time on this process searches the due deliveries of each subscription. */
@Injectable()
export class DueScans {
  protected readonly times: ScanTimes = {};
  private readonly scans = new Map<string, ScanStart>();

  of(subscriptionId: string): ScanStart {
    const scan = this.scans.get(subscriptionId) ?? new ScanStart(this.times);
    this.scans.delete(subscriptionId); // so that the first entry is the one unused for the longest time
    this.scans.set(subscriptionId, scan);
    const oldest = this.scans.keys().next().value;
    if (this.scans.size > maxSubscriptions && oldest !== undefined) this.scans.delete(oldest);
    return scan;
  }
}
