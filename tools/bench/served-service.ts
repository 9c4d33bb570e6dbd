import type { BenchSite } from './bench-site.ts';
import { freePort } from './served-process.ts';

/** A limit that no load from one caller meets. */
export const unlimited = '100000000/1';

/** Where a service under measurement listens, and the settings that all services share. @param name of its corner of the stores */
export async function servedService(site: BenchSite, name: string, databaseUrl: string) {
  const [port, internalPort] = [await freePort(), await freePort()];
  return {
    origin: `http://127.0.0.1:${port}`,
    environment: {
      HOST: '127.0.0.1',
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      DATABASE_URL: databaseUrl,
      REDIS_URL: `${site.stores.redis}?keyPrefix=${name}:`,
      RABBITMQ_URL: site.stores.rabbitmq,
      RABBITMQ_NAMESPACE: name,
    },
  };
}
