import { readConfig } from '@fulfilment/runtime';
import { z } from 'zod';
import type { Deployment } from '../doctor/deployment.js';
import { defineCommand, type Commands } from './define-command.js';

/** The service that `doctor` examines. */
export interface ExaminedService extends Omit<Deployment, 'settings'> {
  /** Loads the schema of all settings of the service; the other commands read only a few of them. */
  readonly allSettings: () => Promise<z.ZodType<Deployment['settings']>>;
}

/**
 * Returns the command `doctor`, which fails if it finds a problem. It must work without a database, so it is
 * not recorded and needs no operator. It shows no data. It changes nothing, except that `examineBroker`
 * re-creates a missing binding or exchange of an existing queue.
 */
export function doctorCommands({ allSettings, ...deployment }: ExaminedService): Commands<void> {
  return {
    doctor: defineCommand({
      summary: 'examines settings and stores of the service, and prints what is wrong and how to correct it',
      arguments: z.object({}),
      run: async () => {
        const settings = readConfig(await allSettings());
        const { examineService } = await import('../doctor/examine-service.js'); // loads the HTTP stack
        const findings = await examineService({ ...deployment, settings });
        if (findings.length > 0)
          throw new Error(
            findings.map(({ problem, fix }) => `${deployment.name}: ${problem} ${fix}`).join(' · '),
          );
        return { service: deployment.name, status: 'ok' };
      },
    }),
  };
}
