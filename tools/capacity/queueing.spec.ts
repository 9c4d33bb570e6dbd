import { seededRandom } from '../demo/random.ts';
import { poissonArrivals, simulate, type Station } from './queueing.ts';

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const meanLatency = (station: Omit<Station, 'name'>, perSecond: number) => {
  const random = seededRandom(7).next;
  const arrivals = poissonArrivals(perSecond, 2_000_000, random);
  return meanOf(simulate([{ name: 'one', ...station }], arrivals, random).latenciesMs);
};

// M/M/1 is a queue with one server, Poisson arrivals and exponential service times. Its mean times are known.
// The simulated ones may differ by 5 %.
describe('a simulated queue', () => {
  const [serviceMs, perSecond] = [10, 70];
  const busyShare = (serviceMs * perSecond) / 1000;
  const idleShare = 1 - busyShare;

  it('has the mean time of M/M/1: the service time divided by the idle share', () => {
    const mean = meanLatency({ servers: 1, serviceMs, variability: 'exponential' }, perSecond);
    expect(mean / (serviceMs / idleShare)).toBeCloseTo(1, 1);
  });

  it('has half the waiting time of M/M/1 when the service time is fixed', () => {
    const mean = meanLatency({ servers: 1, serviceMs, variability: 'fixed' }, perSecond);
    const waitingOfMM1 = (serviceMs * busyShare) / idleShare;
    expect((mean - serviceMs) / (waitingOfMM1 / 2)).toBeCloseTo(1, 1);
  });

  it('serves a batch at the rate of its servers', () => {
    const stations: Station[] = [{ name: 'consumer', servers: 4, serviceMs: 2, variability: 'fixed' }];
    const { endedAtMs, utilisation } = simulate(stations, Array<number>(1000).fill(0), seededRandom(7).next);
    expect(endedAtMs).toBe(500);
    expect(utilisation).toEqual({ consumer: 1 });
  });

  it('passes jobs through all stations in order', () => {
    const stations: Station[] = [
      { name: 'first', servers: 2, serviceMs: 3, variability: 'fixed' },
      { name: 'second', servers: 1, serviceMs: 5, variability: 'fixed' },
    ];
    expect(simulate(stations, [0, 0], seededRandom(7).next).latenciesMs).toEqual([8, 13]);
  });
});
