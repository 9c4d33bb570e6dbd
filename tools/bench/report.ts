import { cpus, release, totalmem, type } from 'node:os';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { BenchSite } from './bench-site.ts';

/** Describes the machine, versions and amounts of a measurement. */
export async function circumstances(site: Omit<BenchSite, 'step'>): Promise<string[]> {
  const { rounds, eachMs, oldRows, stores } = site;
  const [processor] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `Machine: ${cpus().length} × ${processor?.model.trim() ?? 'unknown'}, ${memory} GiB, ${type()} ${release()}`,
    `Versions: Node.js ${process.versions.node}, PostgreSQL ${await postgresVersion(stores.postgres)}, Redis ${await redisVersion(stores.redis)}`,
    `Sizes: ${rounds} rounds of ${eachMs} ms a variant, taking turns; beside ${oldRows} rows`,
  ];
}

async function postgresVersion(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  await client.end();
  return rows[0]?.server_version ?? 'unknown';
}

async function redisVersion(url: string): Promise<string> {
  const client = new Redis(url);
  const info = await client.info('server');
  client.disconnect();
  return /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
}
