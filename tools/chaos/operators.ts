import { operatorAccess } from '../dev/addresses.ts';
import { serviceNames } from '../dev/ports.ts';
import type { OperatorAccess } from '../ops/operator-access.ts';
import { type ChaosContext, databaseUrlOf } from './context.ts';

/** Access of operator commands, by the stable address of each database. */
export function operators(context: ChaosContext): OperatorAccess {
  const access = operatorAccess(context);
  return {
    ...access,
    environments: Object.fromEntries(
      serviceNames.map((name) => [
        name,
        { ...access.environments[name], DATABASE_URL: databaseUrlOf(name, context) },
      ]),
    ),
  };
}
