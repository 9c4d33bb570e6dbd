/** A step of processing: a number of equal servers with one first-come, first-served queue. */
export interface Station {
  readonly name: string;
  readonly servers: number;
  /** Mean time that a server needs for one job. */
  readonly serviceMs: number;
  readonly variability: 'fixed' | 'exponential';
}

/** Returns the arrival times in ms of a Poisson process. @param random uniform in [0, 1) */
export function poissonArrivals(perSecond: number, durationMs: number, random: () => number): number[] {
  const meanIntervalMs = 1000 / perSecond;
  const arrivalsMs: number[] = [];
  let atMs = exponential(meanIntervalMs, random);
  while (atMs < durationMs) {
    arrivalsMs.push(atMs);
    atMs += exponential(meanIntervalMs, random);
  }
  return arrivalsMs;
}

/** Simulates jobs that pass all stations in order. */
export function simulate(stations: readonly Station[], arrivalsMs: readonly number[], random: () => number) {
  let jobs = arrivalsMs.map((arrivedAtMs) => ({ arrivedAtMs, readyAtMs: arrivedAtMs }));
  const busyMs = new Map<string, number>();
  for (const station of stations) {
    const freeAtMs = new Array<number>(station.servers).fill(0);
    jobs = jobs
      .toSorted((a, b) => a.readyAtMs - b.readyAtMs)
      .map(({ arrivedAtMs, readyAtMs }) => {
        const server = freeAtMs.indexOf(Math.min(...freeAtMs)); // the server that is free first
        const serviceMs =
          station.variability === 'fixed' ? station.serviceMs : exponential(station.serviceMs, random);
        const doneAtMs = Math.max(readyAtMs, freeAtMs[server] ?? 0) + serviceMs;
        freeAtMs[server] = doneAtMs;
        busyMs.set(station.name, (busyMs.get(station.name) ?? 0) + serviceMs);
        return { arrivedAtMs, readyAtMs: doneAtMs };
      });
  }
  const endedAtMs = jobs.reduce((latest, { readyAtMs }) => Math.max(latest, readyAtMs), 0);
  return {
    /** Time of each job from its arrival until its last station is done. */
    latenciesMs: jobs.map(({ arrivedAtMs, readyAtMs }) => readyAtMs - arrivedAtMs),
    /** Busy share of the servers of each station. */
    utilisation: Object.fromEntries(
      stations.map(({ name, servers }) => [name, (busyMs.get(name) ?? 0) / (servers * endedAtMs)]),
    ),
    /** When the last job was done. */
    endedAtMs,
  };
}

/** Returns a random value of the exponential distribution with this mean. */
function exponential(mean: number, random: () => number): number {
  return -mean * Math.log(1 - random());
}
