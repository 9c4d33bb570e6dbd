import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { percentile } from '../bench/fixed-rate.ts';
import { Failure } from '../dev/failure.ts';
import { root } from '../dev/settings.ts';
import { wholeNumber } from '../dev/whole-number.ts';
import { orderStations, simulatedMs, simulateOrders } from './simulate-orders.ts';
import type { Station } from './queueing.ts';

const help = `npm run -s tools -- capacity: predicts latencies at a load, from the processor times of the last \`npm run bench -- suite --write\`.

  --orders N           orders a second (default: 200)
  --service-cores N    cores of store-api, all replicas together (default: 2)
  --database-cores N   cores of PostgreSQL (default: 2)
  --sku-orders N       orders a second that one limited edition can take (default: 400); 0 if the orders have many SKUs
  --shipments N        shipments that a warehouse publishes at once (default: 1000000)
  --events N           fulfilment events a second that a replica applies (default: 2000)
  --replicas N         replicas of store-api that apply fulfilment events (default: 1)`;

const benchmarksSchema = z.object({
  suite: z.object({ figures: z.array(z.object({ name: z.string(), value: z.number() })) }),
});

/** Predicts a drop: many orders a second of one limited edition, and afterwards their shipments at once. */
export function predictLatencies(args: readonly string[]): void {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h' },
      orders: { type: 'string', default: '200' },
      'service-cores': { type: 'string', default: '2' },
      'database-cores': { type: 'string', default: '2' },
      'sku-orders': { type: 'string', default: '400' },
      shipments: { type: 'string', default: '1000000' },
      events: { type: 'string', default: '2000' },
      replicas: { type: 'string', default: '1' },
    },
  });
  if (values.help === true) return console.log(help);
  const readOption = (name: Exclude<keyof typeof values, 'help'>, min: number): number =>
    wholeNumber(name, values[name], min);
  const ordersPerSecond = readOption('orders', 1);
  const shipments = readOption('shipments', 0);
  const eventsPerSecond = readOption('events', 1) * readOption('replicas', 1);
  const capacity = {
    serviceCores: readOption('service-cores', 1),
    databaseCores: readOption('database-cores', 1),
    skuOrdersPerSecond: readOption('sku-orders', 0),
  };
  const stations = orderStations({
    ...capacity,
    storeApiMs: processorMs('store-api'),
    postgresMs: processorMs('postgres'),
  });
  for (const line of describeOrders(stations, ordersPerSecond)) console.log(line);
  console.log(`${shipments} shipments at once: applied after ${formatDuration(shipments / eventsPerSecond)}`);
}

function describeOrders(stations: readonly Station[], perSecond: number): string[] {
  const { latenciesMs, utilisation, endedAtMs } = simulateOrders(stations, perSecond);
  const stationLines = stations.map(({ name, servers, serviceMs }) => {
    const busyPercent = Math.round((utilisation[name] ?? 0) * 100);
    return `  ${name}: ${busyPercent} % busy; at most ${Math.floor((servers * 1000) / serviceMs)} a second`;
  });
  return [
    `${perSecond} orders a second:`,
    `  p50 ${percentile(latenciesMs, 0.5).toFixed(1)} ms, p99 ${percentile(latenciesMs, 0.99).toFixed(1)} ms, without the network and the payment provider`,
    `  the last of ${simulatedMs / 1000} s is done after ${formatDuration(endedAtMs / 1000)}`,
    ...stationLines,
  ];
}

/** Reads the processor time of a process per order from the last benchmark. */
function processorMs(processName: string): number {
  const file = join(root, 'docs', 'reference', 'benchmarks.json');
  if (!existsSync(file)) throw new Failure('Measure first: npm run bench -- suite --write');
  const { suite } = benchmarksSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const found = suite.figures.find(({ name }) => name.includes(`${processName}, processor time per order`));
  if (found === undefined)
    throw new Failure(
      `benchmarks.json has no processor time of ${processName}. Measure it on Linux: npm run bench -- suite --write`,
    );
  return found.value;
}

function formatDuration(seconds: number): string {
  return seconds < 120 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`;
}
