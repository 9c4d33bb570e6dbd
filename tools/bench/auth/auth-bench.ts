import { z } from 'zod';
import type { BenchSite } from '../bench-site.ts';
import { figure, type Figure } from '../figures.ts';
import { absolute, measureInRounds, ratio, ratioPerCore, type Rounds } from '../rounds.ts';
import { authProcess, signInEach } from './auth-process.ts';
import { Storage } from './old-rows.ts';
import { ServedProcess } from '../served-process.ts';
import type { ServiceProcess } from '../service-process.ts';
import { TokenCallers, type TokenServer } from './token-callers.ts';
import { measureTokenCheck } from './token-check.ts';

const callers = 16;
const bareLine = z.object({
  port: z.number(),
  client_id: z.string(),
  resourceServer: z.object({ client_id: z.string(), client_secret: z.string() }),
  refreshTokens: z.array(z.string()),
});

/** A server under measurement and those that call it. */
interface Side {
  readonly callers: TokenCallers;
  readonly cpuMs: () => number | undefined;
}

/** Compares the authorization server with a bare oidc-provider, and with itself when it has old rows. */
export async function benchAuth(site: BenchSite): Promise<readonly Figure[]> {
  const tokenCheck = await site.step('Token check', measureTokenCheck);
  const auth = await authProcess(site, 'bench_auth');
  try {
    const ready = await auth.start();
    const ours = await createAccounts(site, auth);
    const figures = await site.step('Refresh and introspection', () => compareWithBaseline(site, ours));
    const grown = site.oldRows === 0 ? [] : await compareWithOldRows(site, ours);
    await ours.callers.close();
    return [...figures, ...grown, ...tokenCheck, ready, ...auth.memory()];
  } finally {
    await auth.stop();
  }
}

async function createAccounts(site: BenchSite, auth: ServiceProcess): Promise<Side> {
  const server = await site.step('People and clients', () => signInEach(auth, callers));
  return { callers: new TokenCallers(server), cpuMs: () => auth.process.cpuMs() };
}

async function compareWithBaseline(site: BenchSite, ours: Side): Promise<Figure[]> {
  const process = ServedProcess.script('auth/bare-provider.ts', {}, String(callers));
  const bare: Side = {
    callers: new TokenCallers(bareServer(await process.firstLine())),
    cpuMs: () => process.cpuMs(),
  };
  try {
    const sides = { bare, 'auth-server': ours };
    const refresh = await measure(site, sides, 'refresh');
    const introspect = await measure(site, sides, 'introspect');
    return [
      ratio('refresh, of bare oidc-provider', refresh, 'auth-server', 'bare', { atLeast: 0.35 }),
      ...ratioPerCore('the same by processor time', refresh, 'auth-server', 'bare'),
      ...Object.keys(sides).flatMap((name) => absolute(refresh, name)),
      ratio('introspection, of bare oidc-provider', introspect, 'auth-server', 'bare', { atLeast: 0.65 }),
      ...ratioPerCore('the same by processor time', introspect, 'auth-server', 'bare'),
      ...Object.keys(sides).flatMap((name) => absolute(introspect, name)),
    ];
  } finally {
    await bare.callers.close();
    await process.stop();
  }
}

/** Compares it with a server that has old rows: first while they exist, then while they are deleted. */
async function compareWithOldRows(site: BenchSite, fresh: Side): Promise<Figure[]> {
  const auth = await authProcess(site, 'bench_auth_grown');
  const storage = await Storage.open(auth.databaseUrl);
  try {
    await storage.blockCleanup();
    await auth.start();
    const grown = await createAccounts(site, auth);
    await site.step(`${site.oldRows} old rows`, () => storage.addOldTokens(site.oldRows));
    const sides = { fresh, grown };
    // Warms up both, so that the comparison shows only the effect of the old rows.
    await site.step('Warm-up of both', () => measureBoth(site, sides, '', 0));
    const figures = await site.step('With old rows', async () => [
      ...(await measureBoth(site, sides, 'with old rows', 0.9)),
    ]);
    // After a restart it deletes old rows immediately.
    await storage.unblockCleanup();
    await auth.stopProcess();
    await auth.start();
    const before = await storage.count();
    const startedAt = performance.now();
    figures.push(
      ...(await site.step('While they are deleted', () => measureBoth(site, sides, 'while sweeping', 0.8))),
    );
    const seconds = (performance.now() - startedAt) / 1000;
    const deleted = before - (await storage.count());
    figures.push(figure('  swept under this load, less what was added', [deleted / seconds], 'rows/s'));
    await grown.callers.close();
    return figures;
  } finally {
    await storage.close();
    await auth.stop();
  }
}

async function measureBoth(
  site: BenchSite,
  sides: Readonly<Record<string, Side>>,
  when: string,
  atLeast: number,
): Promise<Figure[]> {
  const refresh = await measure(site, sides, 'refresh');
  const introspect = await measure(site, sides, 'introspect');
  return [
    ratio(`refresh ${when}, of without`, refresh, 'grown', 'fresh', { atLeast }),
    ratio(`introspection ${when}, of without`, introspect, 'grown', 'fresh', { atLeast }),
  ];
}

function measure(
  site: BenchSite,
  sides: Readonly<Record<string, Side>>,
  what: 'refresh' | 'introspect',
): Promise<Rounds> {
  const variants = Object.entries(sides).map(([name, side]) => ({
    name,
    callers: side.callers[what],
    cpuMs: side.cpuMs,
  }));
  return measureInRounds(variants, site);
}

function bareServer(line: string): TokenServer {
  const { port, client_id, resourceServer, refreshTokens } = bareLine.parse(JSON.parse(line));
  const paths = { token: '/token', introspection: '/token/introspection' };
  return { origin: `http://127.0.0.1:${port}`, paths, clientId: client_id, resourceServer, refreshTokens };
}
