import { serviceProcess } from '@fulfilment/testing';
import { join } from 'node:path';
import type { CreatorApi } from './creator-api.fixture.js';

const program = join(import.meta.dirname, '../../dist', 'main.js');

/** Starts the built creator-api in a separate process, on the stores of a test. */
export function startCreatorProcess(
  { settings }: CreatorApi,
  environment: Readonly<Record<string, string>> = {},
) {
  return serviceProcess(program, settings, {
    ALLOW_LOOPBACK_TARGETS: 'true',
    TRACK_UPLOAD_LEASE_MS: String(settings.TRACK_UPLOAD_LEASE_MS),
    ...environment,
  });
}
