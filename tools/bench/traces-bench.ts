import { listen } from '@fulfilment/testing/listen';
import { createServer } from 'node:http';
import type { BenchContext } from './bench-context.ts';
import type { Figure } from './figures.ts';
import { absoluteFigures, measureInRounds, ratio, ratioPerCpuSecond } from './rounds.ts';
import type { ServiceProcess } from './service-process.ts';
import { callerCount, type StoreRequests, storeRequests } from './store/store-callers.ts';
import { addCatalogue, integrationToken, createStoreProcess } from './store/store-process.ts';

/** A store-api under measurement, with requests to it. */
interface TracedServer {
  readonly service: ServiceProcess;
  readonly requests: StoreRequests;
}

/** Compares placing orders with and without spans. The collector only accepts them. */
export async function benchTraces(context: BenchContext): Promise<readonly Figure[]> {
  const collector = await listen(
    createServer((request, response) => {
      request.resume().on('end', () => response.end());
    }),
  );
  const tracing = (share: string) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: share,
  });
  const servers: Record<string, TracedServer> = {
    off: await start(context, 'off', {}),
    tenth: await start(context, 'tenth', tracing('0.1')),
    all: await start(context, 'all', tracing('1')),
  };
  try {
    const rounds = await context.step('POST order with and without spans', () =>
      measureInRounds(
        Object.entries(servers).map(([name, { service, requests }]) => ({
          name,
          callers: Array.from({ length: callerCount }, () => requests.placeOrder),
          server: service,
        })),
        context,
      ),
    );
    return [
      ...ratioPerCpuSecond(
        'POST order by processor time with a tenth of the traces, ratio to none',
        rounds,
        { numerator: 'tenth', denominator: 'off' },
        { atLeast: 0.95 },
      ),
      ...ratioPerCpuSecond('POST order by processor time with all traces, ratio to none', rounds, {
        numerator: 'all',
        denominator: 'off',
      }),
      ratio('POST order with all traces, ratio to none', rounds, { numerator: 'all', denominator: 'off' }),
      ...Object.keys(servers).flatMap((name) => absoluteFigures(rounds, name)),
    ];
  } finally {
    for (const { service, requests } of Object.values(servers)) {
      await requests.close();
      await service.stop();
    }
    await collector.close();
  }
}

async function start(
  context: BenchContext,
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<TracedServer> {
  const service = await createStoreProcess(context, `bench_traces_${name}`, settings);
  const data = await addCatalogue(service.databaseUrl);
  await service.start();
  const token = await integrationToken(service, data.creatorId);
  return { service, requests: await storeRequests(service.origin, data, token) };
}
