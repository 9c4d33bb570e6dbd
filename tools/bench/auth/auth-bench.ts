import { z } from 'zod';
import type { BenchContext } from '../bench-context.ts';
import { figure, type Figure, type Target } from '../figures.ts';
import { comparisonFigures, type MeasuredServer, measureInRounds, ratio, type Rounds } from '../rounds.ts';
import { createAuthProcess, signInForEachCaller } from './auth-process.ts';
import { AuthData } from './auth-data.ts';
import { ServedProcess } from '../served-process.ts';
import type { ServiceProcess } from '../service-process.ts';
import { TokenCallers, type TokenServer } from './token-callers.ts';
import { measureTokenCheck } from './token-check.ts';

const callerCount = 16;
/** The line that bare-provider.ts prints. */
const bareProviderLine = z.object({
  port: z.number(),
  client_id: z.string(),
  resourceServer: z.object({ client_id: z.string(), client_secret: z.string() }),
  refreshTokens: z.array(z.string()),
});

interface CalledServer {
  readonly server: MeasuredServer;
  readonly callers: TokenCallers;
}

/** Compares the authorization server with a bare oidc-provider, and with itself when it has old rows. */
export async function benchAuth(context: BenchContext): Promise<readonly Figure[]> {
  const tokenCheck = await context.step('Token check', measureTokenCheck);
  const auth = await createAuthProcess(context, 'bench_auth');
  try {
    const startTime = await auth.start();
    const fresh = await createCallers(context, auth);
    const figures = await context.step('Refresh and introspection', () =>
      compareWithBaseline(context, fresh),
    );
    if (context.rowCount > 0) figures.push(...(await compareWithOldRows(context, fresh)));
    await fresh.callers.close();
    return [...figures, ...tokenCheck, startTime, ...auth.memory()];
  } finally {
    await auth.stop();
  }
}

async function createCallers(context: BenchContext, server: ServiceProcess): Promise<CalledServer> {
  const tokens = await context.step('People and clients', () => signInForEachCaller(server, callerCount));
  return { server, callers: new TokenCallers(tokens) };
}

async function compareWithBaseline(context: BenchContext, authServer: CalledServer): Promise<Figure[]> {
  const server = ServedProcess.script('auth/bare-provider.ts', {}, String(callerCount));
  const bare = { server, callers: new TokenCallers(parseBareServer(await server.waitForFirstLine())) };
  const pair = { numerator: 'auth-server', denominator: 'bare' };
  try {
    const servers = { bare, 'auth-server': authServer };
    const refresh = await measure(context, servers, 'refresh');
    const introspect = await measure(context, servers, 'introspect');
    return [
      ...comparisonFigures('refresh, ratio to bare oidc-provider', refresh, pair, { atLeast: 0.35 }),
      ...comparisonFigures('introspection, ratio to bare oidc-provider', introspect, pair, { atLeast: 0.65 }),
    ];
  } finally {
    await bare.callers.close();
    await server.stop();
  }
}

/** Compares a fresh server with one that has old rows: first while they exist, then during their deletion. */
async function compareWithOldRows(context: BenchContext, fresh: CalledServer): Promise<Figure[]> {
  const auth = await createAuthProcess(context, 'bench_auth_grown');
  const data = await AuthData.open(auth.databaseUrl);
  try {
    await data.blockCleanup();
    await auth.start();
    const grown = await createCallers(context, auth);
    await context.step(`${context.rowCount} old rows`, () => data.addOldTokens(context.rowCount));
    const servers = { fresh, grown };
    // Warms up both, so that the comparison shows only the effect of the old rows.
    await context.step('Warm-up of both', () => compareBoth(context, servers, 'warm-up'));
    const figures = await context.step('With old rows', () =>
      compareBoth(context, servers, 'with old rows', { atLeast: 0.9 }),
    );
    // After a restart, auth-server deletes old rows immediately, not up to a minute later.
    await data.unblockCleanup();
    await auth.stopProcesses();
    await auth.start();
    const rowsBefore = await data.count();
    const startedAtMs = performance.now();
    figures.push(
      ...(await context.step('During the deletion of old rows', () =>
        compareBoth(context, servers, 'during the deletion of old rows', { atLeast: 0.8 }),
      )),
    );
    const seconds = (performance.now() - startedAtMs) / 1000;
    const deleted = rowsBefore - (await data.count());
    figures.push(figure('  rows deleted under this load, minus rows added', [deleted / seconds], 'rows/s'));
    await grown.callers.close();
    return figures;
  } finally {
    await data.close();
    await auth.stop();
  }
}

async function compareBoth(
  context: BenchContext,
  servers: Readonly<Record<'fresh' | 'grown', CalledServer>>,
  condition: string,
  target?: Target,
): Promise<Figure[]> {
  const refresh = await measure(context, servers, 'refresh');
  const introspect = await measure(context, servers, 'introspect');
  return [
    ratio(
      `refresh ${condition}, ratio to without`,
      refresh,
      { numerator: 'grown', denominator: 'fresh' },
      target,
    ),
    ratio(
      `introspection ${condition}, ratio to without`,
      introspect,
      { numerator: 'grown', denominator: 'fresh' },
      target,
    ),
  ];
}

function measure(
  context: BenchContext,
  servers: Readonly<Record<string, CalledServer>>,
  operation: 'refresh' | 'introspect',
): Promise<Rounds> {
  const variants = Object.entries(servers).map(([name, { server, callers }]) => ({
    name,
    server,
    callers: callers[operation],
  }));
  return measureInRounds(variants, context);
}

function parseBareServer(line: string): TokenServer {
  const { port, client_id, resourceServer, refreshTokens } = bareProviderLine.parse(JSON.parse(line));
  const paths = { token: '/token', introspection: '/token/introspection' };
  return { origin: `http://127.0.0.1:${port}`, paths, clientId: client_id, resourceServer, refreshTokens };
}
