import { operatorAccess } from '../dev/addresses.ts';
import { serviceNames } from '../dev/ports.ts';
import type { OperatorAccess } from '../ops/operator-access.ts';
import { type ChaosContext, databaseUrlOf } from './context.ts';

/** Access of operator commands, which find each database where its service does. */
export function operators(context: ChaosContext): OperatorAccess {
  const { environments, service_environments: _, programs, ...rest } = operatorAccess(context);
  return {
    ...rest,
    programs: { ...programs },
    environments: Object.fromEntries(
      serviceNames.map((name) => [
        name,
        { ...environments[name], DATABASE_URL: databaseUrlOf(name, context) },
      ]),
    ),
  };
}
