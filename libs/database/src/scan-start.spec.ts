import { jest } from '@jest/globals';
import { ScanStart } from './scan-start.js';

// With a lag of 0, each call of `position` begins an interval, and the start follows one interval behind.
describe('the start of a scan', () => {
  it('is the beginning at first, then follows the handled positions', () => {
    const scan = new ScanStart({ lagMs: 0, fullScanMs: 600_000 });
    expect(scan.position()).toBe(0);
    scan.advance([5, 6, 9]);
    scan.position();
    expect(scan.position()).toBe(9);
  });

  it('stays behind positions that were handled less than the lag ago', () => {
    const scan = new ScanStart({ lagMs: 600_000, fullScanMs: 600_000 });
    scan.position();
    scan.advance([5, 6, 9]);
    expect(scan.position()).toBe(0);
  });

  it('returns to a lower position that a full scan found', () => {
    const scan = new ScanStart({ lagMs: 0, fullScanMs: 0 });
    scan.position();
    scan.advance([50, 60]);
    scan.position();
    scan.position();
    scan.advance([10, 60]);
    scan.fullScanTook(60_000); // so that `position` returns the start, not 0
    expect(scan.position()).toBe(10);
  });

  it('is the beginning if a full scan is preferred, until full scans have used up their share of the time', () => {
    const scan = new ScanStart({ lagMs: 0, fullScanMs: 600_000 });
    scan.position();
    scan.advance([5]);
    scan.position();
    expect([scan.position(), scan.position({ preferFull: true })]).toEqual([5, 0]);
    scan.fullScanTook(60_000);
    expect(scan.position({ preferFull: true })).toBe(5);
  });

  it('is the beginning each time a full scan is due, until full scans have used up their share of the time', () => {
    const scan = new ScanStart({ lagMs: 0, fullScanMs: 0 });
    scan.advance([5]);
    expect([scan.position(), scan.position(), scan.position()]).toEqual([0, 0, 0]);
    scan.fullScanTook(60_000);
    expect(scan.position()).toBe(5);
  });

  it('is the beginning again after 20 times the duration of a full scan', () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    try {
      const scan = new ScanStart({ lagMs: 0, fullScanMs: 0 });
      scan.position();
      scan.advance([5]);
      scan.position();
      scan.fullScanTook(100);
      clock.mockReturnValue(2_999);
      expect(scan.position()).toBe(5);
      clock.mockReturnValue(3_000);
      expect(scan.position()).toBe(0);
    } finally {
      clock.mockRestore();
    }
  });
});
