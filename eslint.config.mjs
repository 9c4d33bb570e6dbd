import eslint from '@eslint/js';
import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';
import { oneWayFolders } from './tools/lint/one-way-folders.mjs';

/** Which layer may import which. Apps never import each other; arrows between libs go one way. */
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
 * What a file's suffix forbids it to import (docs/adr/0002). Each call is a rule of its own, because ESLint
 * applies to a file only the last options of a rule.
 */
const never = (name, files, patterns, message, alsoIgnored = []) => ({
  files,
  ignores: ['**/*.spec.ts', ...alsoIgnored],
  plugins: { [name]: { rules: { imports: tseslint.plugin.rules['no-restricted-imports'] } } },
  rules: {
    [`${name}/imports`]: ['error', { patterns: [{ group: patterns, message }] }],
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
  // An example imports its own package as strangers do: by its name.
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
  never(
    'production',
    ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ['@fulfilment/testing', '@fulfilment/testing/*', '@fulfilment/*/testing', '**/testing/*'],
    'Only tests import test support.',
    ['**/*.fixture.ts', '**/test/**', '**/testing/**', 'apps/suite-e2e/**'],
  ),
  never(
    'use-cases',
    ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ['express'],
    'Use cases take and return plain data; controllers, pipes and other HTTP edges read and write HTTP.',
    [
      '**/*.{controller,filter,guard,interceptor,middleware,pipe}.ts',
      'libs/http-service/**', // the HTTP edge that the services share
    ],
  ),
  never(
    'rules',
    ['apps/*/src/**/*.rules.ts'],
    [
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
    'Rules are pure: values in, values out.',
  ),
  never(
    'controllers',
    ['apps/*/src/**/*.controller.ts'],
    ['typeorm', 'pg', '@fulfilment/messaging', '@fulfilment/database'],
    'A controller states route, scope and DTO, and makes one call.',
  ),
  never(
    'consumers',
    ['apps/*/src/**/*.consumer.ts', 'apps/*/src/**/*.job.ts'],
    ['express', '@nestjs/platform-express', '@fulfilment/http-service'],
    'A consumer is the broker edge.',
  ),
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
              message: 'Requests reach the database through Visibility (docs/adr/0007).',
            },
          ],
        },
      ],
    },
  },
  prettier,
);
