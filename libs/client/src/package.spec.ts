import { buildSync } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { keyedCreatorOperations, keyedStoreOperations } from './api-client.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tsc = join(root, 'node_modules/@typescript/native/bin/tsc');
/** The promise of ADR 53. One API needs about 6 kB. */
const maxCompressedBytes = 15_000;

/** An empty project into which the packed package is installed. */
const project = mkdtempSync(join(tmpdir(), 'client-package-'));
afterAll(() => rmSync(project, { recursive: true }));

function run(program: string, args: readonly string[], cwd = project): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
    throw new Error(`${program} ${args.join(' ')} failed: ${output}`, { cause: error });
  }
}

beforeAll(() => {
  const npmOptions = ['--offline', '--no-audit', '--no-fund', '--silent'];
  const archive = run(
    'npm',
    ['pack', ...npmOptions, '--pack-destination', project],
    join(root, 'libs/client'),
  ).trim();
  const manifest = {
    type: 'module',
    dependencies: { '@fulfilment/client': `file:${archive}` },
    overrides: { oauth4webapi: `file:${join(root, 'node_modules/oauth4webapi')}` }, // without a network
  };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  run('npm', ['install', ...npmOptions]);
});

const imports = `
import { ApiError, createStoreClient, iterate, listOrders, type Order, placeOrder, readOrder } from '@fulfilment/client/store';
import * as creator from '@fulfilment/client/creator';
import { AuthorizationServer, memoryTokenStore } from '@fulfilment/client/oauth';
`;
const browserProgram = `${imports}
const server = await AuthorizationServer.discover('https://suite.example/api/auth');
const client = createStoreClient({ baseUrl: '/store', auth: server.session('app', memoryTokenStore()) });
for await (const order of iterate((cursor) => listOrders({ client, query: { cursor } }))) order.id satisfies string;
const { data, response } = await readOrder({ client, path: { id: 'ord_1' }, signal: AbortSignal.timeout(1000) });
data satisfies Order;
response.headers.get('etag') satisfies string | null;
try {
  // @ts-expect-error: the body is required
  await placeOrder({ client });
} catch (error) {
  if (error instanceof ApiError && error.code === 'CONFLICT') error.details[0]?.reason satisfies string | undefined;
}
await creator.listOrders({ client: creator.createCreatorClient({ baseUrl: '/creator' }), query: { creator: 'c' } });
// @ts-expect-error: the package has no such entry point
await import('@fulfilment/client/transport');
`;
const nodeProgram = `${browserProgram}
import { signIn } from '@fulfilment/client/sign-in';
import { isKnownEvent, verifyWebhook } from '@fulfilment/client/webhooks';
(await signIn(server, { clientId: 'app', scopes: [], open: () => undefined })).accessToken satisfies string;
const event = verifyWebhook({ headers: {}, body: new Uint8Array() }, { secrets: ['s'] });
if (isKnownEvent(event) && event.event === 'order.shipped') event.data.tracking_url satisfies string | null;
`;

/** The programs in the documentation. Those for browsers begin with ```ts browser. */
const guides = globSync('docs/site/pages/*.md', { cwd: root });
const documented = ['docs/client.md', 'libs/client/README.md', ...guides].flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^```ts ?(.*)\n([^]*?)^```/gm)].map(
    ([, mark = '', program = '']) => ({ forBrowsers: mark.startsWith('browser'), program }),
  ),
);

/** Checks the types of programs in the project, and those of the package's declarations. */
function check(name: string, programs: readonly string[], options: Readonly<Record<string, unknown>>): void {
  const dir = join(project, name);
  mkdirSync(dir);
  const files = programs.map((_program, index) => `program-${index}.ts`);
  for (const [index, file] of files.entries()) writeFileSync(join(dir, file), programs[index] ?? '');
  const compilerOptions = { strict: true, noEmit: true, target: 'es2022', skipLibCheck: false, ...options };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  run(process.execPath, [tsc, '-p', dir]);
}

describe('the packed package', () => {
  it('has types for Node, strict and with node16 resolution, also for the documented programs', () => {
    const types = [join(root, 'node_modules/@types/node')];
    const programs = documented.filter(({ forBrowsers }) => !forBrowsers).map(({ program }) => program);
    expect(programs.length).toBeGreaterThan(3); // otherwise the pattern above found no programs
    check('node16', [nodeProgram, ...programs], {
      module: 'node16',
      moduleResolution: 'node16',
      lib: ['es2023'],
      types,
    });
  });

  it('has types for browsers, strict and with bundler resolution, without those of Node', () => {
    const lib = ['es2023', 'dom', 'dom.iterable'];
    const programs = documented.filter(({ forBrowsers }) => forBrowsers).map(({ program }) => program);
    expect(programs).toHaveLength(1);
    check('bundler', [browserProgram, ...programs], {
      module: 'esnext',
      moduleResolution: 'bundler',
      lib,
      types: [],
    });
  });

  it('can be imported in Node, each entry point by its name', () => {
    const entries = ['store', 'creator', 'oauth', 'sign-in', 'webhooks'];
    const program = entries.map((entry) => `import '@fulfilment/client/${entry}';`).join('\n');
    run(process.execPath, ['--input-type=module', '--eval', program]);
  });

  it('contains code, types, licence and README, and no tests', () => {
    const files = readdirSync(join(project, 'node_modules/@fulfilment/client'), {
      recursive: true,
      encoding: 'utf8',
    });
    const isDirectoryOrLicence = (name: string): boolean => !name.includes('.');
    const isCodeOrTypes = (name: string): boolean => /\.js$|\.d\.ts$/.test(name);
    expect(files.filter((name) => !isDirectoryOrLicence(name) && !isCodeOrTypes(name))).toEqual([
      'README.md',
      'package.json',
    ]);
    expect(files).toContain('LICENSE');
    expect(files.filter((name) => /spec|fixture|test/.test(name))).toEqual([]);
  });

  it.each(['store', 'creator'])('needs less than 15 kB compressed in a browser for one API: %s', (entry) => {
    expect(bundledBytes(`export * from '@fulfilment/client/${entry}'`)).toBeLessThan(maxCompressedBytes);
  });

  it('leaves out what a program does not use', () => {
    const one = bundledBytes(`export { createStoreClient, readOrder } from '@fulfilment/client/store'`);
    const all = bundledBytes(`export * from '@fulfilment/client/store'`);
    expect(one).toBeLessThan(all - 500); // more than compression alone would change
  });
});

/** Returns the size of a minified and compressed program. @throws if it imports modules of Node */
function bundledBytes(program: string): number {
  const { outputFiles } = buildSync({
    stdin: { contents: program, resolveDir: project },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  return gzipSync(outputFiles[0]?.contents ?? '').length;
}

describe('the operations with an idempotency key', () => {
  it.each([
    ['store', keyedStoreOperations],
    ['creator', keyedCreatorOperations],
  ] as const)('are those of the reference: %s', (api, keyed) => {
    const file = join(root, 'docs/reference', `${api}.openapi.json`);
    const { paths }: { paths: Record<string, Record<string, { parameters?: { name: string }[] }>> } =
      JSON.parse(readFileSync(file, 'utf8'));
    const documented = Object.entries(paths).filter(([, { post }]) =>
      post?.parameters?.some(({ name }) => name === 'idempotency-key'),
    );
    expect(documented.map(([path]) => path).toSorted()).toEqual([...keyed].toSorted());
  });
});
