import { createServer } from 'node:http';
import { once } from 'node:events';
import { type BenchSite, unlimited } from '../bench-site.ts';
import type { Figure } from '../figures.ts';
import { absolute, measureInRounds, ratio, ratioPerCore } from '../rounds.ts';
import { ServiceProcess } from '../service-process.ts';
import { Shop } from '../store/shop-data.ts';
import { callerCount, type StoreRequests, storeRequests } from '../store/store-callers.ts';

/** The share of the traces that a busy service records, and all of them. */
const ratios = { tenth: '0.1', all: '1' };

interface Measured {
  readonly service: ServiceProcess;
  readonly requests: StoreRequests;
}

/** Compares placing orders with and without spans, which a collector accepts. */
export async function benchTraces(site: BenchSite): Promise<readonly Figure[]> {
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const address = collector.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  const sampled = (share: string) => ({
    ...endpoint,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: share,
  });
  const sides: Record<string, Measured> = {
    off: await start(site, 'off', {}),
    tenth: await start(site, 'tenth', sampled(ratios.tenth)),
    all: await start(site, 'all', sampled(ratios.all)),
  };
  try {
    const rounds = await site.step('POST order with and without spans', () =>
      measureInRounds(
        Object.entries(sides).map(([name, { service, requests }]) => ({
          name,
          callers: Array.from({ length: callerCount }, () => requests.placeOrder),
          cpuMs: () => service.process.cpuMs(),
        })),
        site,
      ),
    );
    return [
      ...ratioPerCore('POST order per core with a tenth of the traces, of none', rounds, 'tenth', 'off', {
        atLeast: 0.95,
      }),
      ...ratioPerCore('POST order per core with all traces, of none', rounds, 'all', 'off'),
      ratio('POST order with all traces, of none', rounds, 'all', 'off'),
      ...Object.keys(sides).flatMap((name) => absolute(rounds, name)),
    ];
  } finally {
    for (const { service, requests } of Object.values(sides)) {
      await requests.close();
      await service.stop();
    }
    collector.closeAllConnections();
    collector.close();
  }
}

async function start(
  site: BenchSite,
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<Measured> {
  const database = `bench_traces_${name}`;
  const service = await ServiceProcess.create(site, 'store-api', database, () => ({
    REDIS_URL: `${site.stores.redis}?keyPrefix=${database}:`,
    PAYMENT_PROVIDER: 'sandbox',
    RATE_LIMIT_ORDERS_CREATE: unlimited,
    ...settings,
  }));
  const shop = await Shop.open(service.databaseUrl);
  const data = await shop.furnish();
  await shop.close();
  await service.start();
  const scope = 'orders:read orders:create shipping:read';
  const token = await service.token({ creator_id: data.creatorId, scope });
  return { service, requests: await storeRequests(service.origin, data, token) };
}
