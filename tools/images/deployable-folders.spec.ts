import { serviceNames } from '@fulfilment/contracts/permissions';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { runProgram } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';

const maxBytes = 45_000_000;
const folderOf = (app: string): string => join(root, 'dist', 'apps', app);

/** Paths of all files and links below a folder. Does not follow links. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Node options that make an import of one of the packages fail. */
function withoutPackages(packages: readonly string[]): string[] {
  const rejectPackages = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(name, context, next) {
        if (${JSON.stringify(packages)}.includes(name)) throw new Error(name + ' is imported by ' + context.parentURL);
        return next(name, context);
      },
    });
  `;
  return ['--import', `data:text/javascript,${encodeURIComponent(rejectPackages)}`];
}

/** Packages that take long to load, so programs that run briefly must not import them. */
const httpStack = ['@nestjs/core', '@nestjs/platform-express', 'express', 'class-validator'];

/** The folders that the images contain (tools/dev/bundle/bundle.ts). */
describe.each([...serviceNames, 'bootstrap'])('the deployable folder of %s', (app) => {
  const files = filesBelow(folderOf(app));

  it('has no source map, type declaration, test, lock file or package for development', () => {
    const unwanted = /(\.map|\.d\.[cm]?ts|\.spec\.[jt]s|\.tsbuildinfo|package-lock\.json)$/;
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
    for (const name of ['playwright-core', 'typescript', 'jest', '@fulfilment/testing', '@nestjs/testing'])
      expect(existsSync(join(folderOf(app), 'node_modules', name))).toBe(false);
  });

  it('is smaller than 45 MB', () => {
    const bytes = files.reduce((sum, file) => sum + lstatSync(file).size, 0);
    expect(bytes).toBeLessThan(maxBytes);
  });

  it('has the licence of every package that has one', () => {
    const manifests = files.filter((file) => /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(file));
    for (const manifest of manifests) {
      const folder = join(manifest, '..');
      const installed = folder.replace(folderOf(app), root);
      const licences = (place: string): string[] =>
        readdirSync(place).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
      expect([folder, licences(folder)]).toEqual([folder, licences(installed)]);
    }
  });

  it('has the entry point of every package that has one', () => {
    const schema = z.object({ main: z.string().optional().catch(undefined) });
    for (const file of files.filter((path) => /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path))) {
      const { main } = schema.parse(JSON.parse(readFileSync(file, 'utf8')));
      const installed = file.replace(folderOf(app), root);
      const places = ['', '.js', '/index.js'].map((ending) => join('..', `${main ?? 'index'}${ending}`));
      const isThere = (manifest: string): boolean =>
        places.some((place) => existsSync(join(manifest, place)));
      expect([file, isThere(file)]).toEqual([file, isThere(installed)]);
    }
  });
});

describe.each(serviceNames)('the programs of %s', (app) => {
  const run = (...args: string[]) =>
    runProgram(process.execPath, args, {
      cwd: join(folderOf(app), 'apps', app),
      env: { PATH: process.env.PATH },
    });

  it.each([
    ['main.js', ['stripe']], // loaded later, if it is the payment provider
    ['migrate.js', httpStack],
  ])('%s does not import %j, and exits with status 78 if settings are missing', async (program, packages) => {
    const { code, output } = await run(...withoutPackages(packages), join('dist', program));
    expect(output).toContain('The setting DATABASE_URL is missing');
    expect(code).toBe(78);
  });

  it('cli.js loads all of its modules, without the HTTP stack, and prints its commands', async () => {
    const { code, output } = await run(...withoutPackages(httpStack), join('dist', 'cli.js'), '--help');
    expect([code, output.includes('cli.js COMMAND')]).toEqual([0, true]);
  });
});

it.each(['stripe-payment-gateway', 'stripe-webhooks.module'])(
  'store-api can load %s, which it imports only when Stripe is configured',
  async (module) => {
    const load = `await import('./dist/payments/stripe/${module}.js')`;
    const { code, output } = await runProgram(process.execPath, ['--input-type=module', '--eval', load], {
      cwd: join(folderOf('store-api'), 'apps', 'store-api'),
      env: { PATH: process.env.PATH },
    });
    expect([code, output]).toEqual([0, '']);
  },
);

it('the program of bootstrap prints its help and exits with status 78 if it gets no command', async () => {
  const { code, output } = await runProgram(process.execPath, ['src/main.ts'], {
    cwd: join(folderOf('bootstrap'), 'apps', 'bootstrap'),
    env: { PATH: process.env.PATH },
  });
  expect([code, output.includes('Prepares the stores')]).toEqual([78, true]);
});
