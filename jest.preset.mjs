import { join } from 'node:path';

const jest = join(import.meta.dirname, 'tools', 'jest');

/** One Jest setup for every project: Node loads modules as in production, libraries from their sources. */
export default {
  runtime: join(jest, 'process-runtime.mjs'),
  testEnvironment: join(jest, 'process-environment.mjs'),
  workerIdleMemoryLimit: '1GB', // also keeps the tests out of the process of Jest itself
  // A worker drops its template databases at its end, which takes seconds on a busy machine.
  workerGracefulExitTimeout: 30_000,
  testTimeout: 120_000, // a limit for tests that hang: a busy machine is five times slower
  setupFiles: ['reflect-metadata'],
  testMatch: ['<rootDir>/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        module: { type: 'es6' },
        jsc: {
          target: 'es2023',
          keepClassNames: true,
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
      },
    ],
  },
};
