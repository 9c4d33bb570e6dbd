import type { OperatorAccess } from '../ops/operator-access.ts';
import type { BareStack } from './stack-file.ts';
import { serviceNames } from './ports.ts';
import { baseUrl, serviceEnvironment, servicePath, type ServiceSite, storeUserUrl } from './services.ts';

/** Addresses and environments for operator commands and the demo data. */
export function operatorAccess(site: ServiceSite): OperatorAccess {
  const operatorUrl = storeUserUrl('rabbitmq', 'operator', site);
  const environments = serviceNames.map((name) => [name, serviceEnvironment(name, site)] as const);
  return {
    internal_urls: Object.fromEntries(
      serviceNames.map((name) => [name, loopback(site.ports.internal[name])]),
    ),
    environments: Object.fromEntries(
      environments.map(([name, environment]) => [name, { ...environment, RABBITMQ_URL: operatorUrl }]),
    ),
    service_environments: Object.fromEntries(environments),
    programs: Object.fromEntries(
      serviceNames.map((name) => [name, [process.execPath, servicePath(name, 'cli.js', site)]]),
    ),
  };
}

/** Contents of `stack.json` before the demo data is loaded. */
export function bareStack(site: ServiceSite, caFile: string): BareStack {
  const { ports } = site;
  return {
    base_url: baseUrl(ports),
    auth_url: baseUrl(ports),
    ca_file: caFile,
    services: Object.fromEntries(
      serviceNames.map((name) => {
        const internal = loopback(ports.internal[name]);
        const addresses = {
          url: loopback(ports.services[name]),
          metrics_url: `${internal}/metrics`,
          internal_url: internal,
        };
        return [name, addresses];
      }),
    ),
    dependencies: site.dependencyUrls,
    warehouse: { rabbitmq: storeUserUrl('rabbitmq', 'warehouse', site) },
  };
}

function loopback(port: number): string {
  return `http://127.0.0.1:${port}`;
}
