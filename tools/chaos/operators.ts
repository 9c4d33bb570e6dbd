import { operatorAccess } from '../dev/addresses.ts';
import { serviceNames } from '../dev/ports.ts';
import type { OperatorAccess } from '../ops/operator-access.ts';
import { type ChaosSite, databaseUrlOf } from './site.ts';

/** Access of operator commands, which find each database where its service does. */
export function operators(site: ChaosSite): OperatorAccess {
  const { environments, service_environments: _, programs, ...rest } = operatorAccess(site);
  return {
    ...rest,
    programs: { ...programs },
    environments: Object.fromEntries(
      serviceNames.map((name) => [name, { ...environments[name], DATABASE_URL: databaseUrlOf(name, site) }]),
    ),
  };
}
