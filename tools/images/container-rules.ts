import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import type { Engine } from './engine.ts';

const containersSchema = z.array(
  z.object({
    Name: z.string(),
    Config: z.object({ User: z.string() }),
    HostConfig: z.object({
      ReadonlyRootfs: z.boolean(),
      CapDrop: z.array(z.string()).nullable(),
      CapAdd: z.array(z.string()).nullable(),
      SecurityOpt: z.array(z.string()).nullable(),
      Privileged: z.boolean(),
    }),
  }),
);

/**
 * Checks that containers are restricted, by what the engine reports. The containers may have ended.
 * @throws Failure if a container lacks a restriction
 */
export async function checkRestrictions(
  engine: Pick<Engine, 'dockerOrThrow'>,
  ids: readonly string[],
): Promise<void> {
  const output = await engine.dockerOrThrow(['inspect', ...ids]);
  for (const { Name, Config, HostConfig } of containersSchema.parse(JSON.parse(output))) {
    const rules = {
      'a read-only root file system': HostConfig.ReadonlyRootfs,
      'no capabilities':
        HostConfig.CapDrop?.includes('ALL') === true && (HostConfig.CapAdd ?? []).length === 0,
      'no new privileges':
        HostConfig.SecurityOpt?.some((option) => /^no-new-privileges([:=]true)?$/.test(option)) === true,
      'a numeric user and group (uid:gid), both other than root': /^[1-9]\d*:[1-9]\d*$/.test(Config.User),
      'no privileged mode': !HostConfig.Privileged,
    };
    const broken = Object.entries(rules).find(([, isKept]) => !isKept);
    if (broken !== undefined) throw new Failure(`The container ${Name} must have ${broken[0]}.`);
  }
}
