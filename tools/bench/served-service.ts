import type { BenchSite } from './bench-site.ts';
import { freePort } from './served-process.ts';

/** A limit that no benchmark reaches. */
export const unlimited = '100000000/1';

/** Addresses and common settings of a service under measurement. @param name its namespace in the stores */
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
