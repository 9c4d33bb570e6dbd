import { serviceNames } from '@fulfilment/contracts/permissions';
import type { OperatorAccess } from '../../ops/operator-access.ts';
import type { BareStack } from '../state/stack-file.ts';
import { baseUrl, serviceEnvironment, servicePath, type ServiceContext, storeUserUrl } from './services.ts';

/** Addresses and environments for operator commands and the demo data. */
export function operatorAccess(context: ServiceContext): OperatorAccess {
  const operatorUrl = storeUserUrl('rabbitmq', 'operator', context);
  const environments = serviceNames.map((name) => [name, serviceEnvironment(name, context)] as const);
  return {
    internal_urls: Object.fromEntries(
      serviceNames.map((name) => [name, loopbackUrl(context.ports.internal[name])]),
    ),
    environments: Object.fromEntries(
      environments.map(([name, environment]) => [name, { ...environment, RABBITMQ_URL: operatorUrl }]),
    ),
    service_environments: Object.fromEntries(environments),
    programs: Object.fromEntries(
      serviceNames.map((name) => [name, [process.execPath, servicePath(name, 'cli.js', context)]]),
    ),
  };
}

/** Contents of `stack.json` before the demo data is loaded. */
export function bareStack(context: ServiceContext, caFile: string): BareStack {
  const { ports } = context;
  return {
    base_url: baseUrl(ports),
    auth_url: baseUrl(ports),
    ca_file: caFile,
    services: Object.fromEntries(
      serviceNames.map((name) => {
        const internal = loopbackUrl(ports.internal[name]);
        const addresses = {
          url: loopbackUrl(ports.services[name]),
          metrics_url: `${internal}/metrics`,
          internal_url: internal,
        };
        return [name, addresses];
      }),
    ),
    dependencies: context.dependencyUrls,
    warehouse: { rabbitmq: storeUserUrl('rabbitmq', 'warehouse', context) },
  };
}

function loopbackUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
