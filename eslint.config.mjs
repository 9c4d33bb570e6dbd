import eslint from '@eslint/js';
import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';
import { oneWayFolders } from './tools/lint/one-way-folders.mjs';

/** The layers that each layer may import. Apps never import each other; imports between libs go one way. */
const layers = {
  pure: ['pure'],
  testing: ['pure', 'testing'],
  runtime: ['pure', 'runtime', 'testing'],
  database: ['pure', 'runtime', 'database', 'testing'],
  platform: ['pure', 'runtime', 'database', 'testing'],
  host: ['pure', 'runtime', 'database', 'platform', 'testing'],
  app: ['pure', 'runtime', 'database', 'platform', 'host', 'testing'],
  e2e: ['pure', 'testing'],
  tools: ['pure', 'runtime', 'platform', 'testing'],
  cli: ['pure', 'testing'],
};

/**
 * Forbids imports by the suffix or folder of a file (ADR 2). Each call defines a separate rule,
 * because ESLint applies only the last matching options of a rule to a file.
 */
const forbidImports = ({ name, files, ignores = [], imports, message }) => ({
  files,
  ignores: ['**/*.spec.ts', ...ignores],
  plugins: { [name]: { rules: { imports: tseslint.plugin.rules['no-restricted-imports'] } } },
  rules: {
    [`${name}/imports`]: ['error', { patterns: [{ group: imports, message }] }],
  },
});

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/dist-bundle/**',
      '**/node_modules/**',
      '.dev/**',
      '.nx/**',
      'docs/reference/**',
      'docs/site/.astro/**',
      'libs/client/src/generated/**',
    ],
  },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommended],
    plugins: { '@nx': nx, local: { rules: { 'one-way-folders': oneWayFolders } } },
    rules: {
      'local/one-way-folders': 'error',
      '@nx/enforce-module-boundaries': [
        'error',
        {
          enforceBuildableLibDependency: false,
          allow: [],
          depConstraints: Object.entries(layers).map(([layer, allowed]) => ({
            sourceTag: `layer:${layer}`,
            onlyDependOnLibsWithTags: allowed.map((name) => `layer:${name}`),
          })),
        },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  { files: ['tools/**'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.spec.ts', '**/*.fixture.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@jest/globals',
              allowImportNames: ['jest'], // in ES modules, `jest` is the only one that is not global
              message: "Tests use Jest's globals.",
            },
          ],
        },
      ],
    },
  },
  // An example imports its own package by name, as the code of an integrator does.
  { files: ['libs/*/examples/**'], rules: { '@nx/enforce-module-boundaries': 'off' } },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
      },
    },
  },
  forbidImports({
    name: 'production',
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: ['**/*.fixture.ts', '**/testing/**', 'apps/suite-e2e/**'],
    imports: ['@fulfilment/testing', '@fulfilment/testing/*', '@fulfilment/*/testing', '**/testing/*'],
    message: 'Only tests import test support.',
  }),
  forbidImports({
    name: 'use-cases',
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: [
      '**/*.{controller,filter,guard,interceptor,middleware,pipe}.ts',
      'libs/http-service/**', // the HTTP edge that the services share
    ],
    imports: ['express'],
    message:
      'Use cases take and return plain data; controllers, pipes and other HTTP edges read and write HTTP.',
  }),
  forbidImports({
    name: 'rules',
    files: ['apps/*/src/**/*.rules.ts'],
    imports: [
      'typeorm',
      'pg',
      '@nestjs/*',
      'ioredis',
      'amqplib',
      'bullmq',
      'undici',
      'node:fs*',
      'node:net',
      '@fulfilment/database',
      '@fulfilment/messaging',
    ],
    message: 'Rules are pure: values in, values out.',
  }),
  forbidImports({
    name: 'controllers',
    files: ['apps/*/src/**/*.controller.ts'],
    imports: ['typeorm', 'pg', '@fulfilment/messaging', '@fulfilment/database'],
    message: 'A controller states route, scope and DTO, and makes one call.',
  }),
  forbidImports({
    name: 'consumers',
    files: ['apps/*/src/**/*.consumer.ts', 'apps/*/src/**/*.job.ts'],
    imports: ['express', '@nestjs/platform-express', '@fulfilment/http-service'],
    message: 'Consumers and jobs handle messages and schedules, not HTTP.',
  }),
  {
    files: ['apps/creator-api/src/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/*.fixture.ts', '**/*.module.ts', '**/*.job.ts', '**/visibility/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@fulfilment/database',
              importNames: ['Database', 'ReadDatabase', 'BACKGROUND_DATABASE'],
              allowTypeImports: true, // Nest injects values only
              message: 'Requests reach the database through Visibility (ADR 7).',
            },
          ],
        },
      ],
    },
  },
  prettier,
);
