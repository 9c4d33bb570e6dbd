import { isNeededAtRunTime } from './run-time-files.rules.ts';

describe('isNeededAtRunTime', () => {
  it.each([
    'apps/store-api/dist/main.js',
    'docs/reference/store.md',
    'node_modules/pg/lib/index.js',
    'node_modules/lru-cache/dist/esm/node/index.min.js',
    'node_modules/pg/package.json',
    'node_modules/pg/LICENSE',
    'node_modules/zod/LICENSE.md',
    'node_modules/@nestjs/core/helpers/docs/index.js',
  ])('keeps %s', (path) => expect(isNeededAtRunTime(path)).toBe(true));

  it.each([
    'apps/store-api/dist/main.js.map',
    'apps/store-api/dist/main.d.ts',
    'apps/store-api/dist/tsconfig.tsbuildinfo',
    'apps/bootstrap/src/secrets.spec.ts',
    'node_modules/pg/README.md',
    'node_modules/stripe/types/index.d.ts',
    'node_modules/zod/src/index.ts',
    'node_modules/@nestjs/core/test',
    'node_modules/typeorm/browser',
    'node_modules/a/node_modules',
  ])('omits %s', (path) => expect(isNeededAtRunTime(path)).toBe(false));
});
