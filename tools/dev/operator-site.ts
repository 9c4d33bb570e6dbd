import type { BareStack } from './stack-file.ts';
import { serviceNames } from './ports.ts';
import {
  baseUrl,
  rabbitmqNamespace,
  serviceEnvironment,
  type ServiceSite,
  storeUserUrl,
} from './services.ts';

/** Where an operator's commands go. */
export interface OperatorSite {
  readonly rabbitmq: string;
  readonly namespace: string;
  /** Where each service tells what became of a message. */
  readonly internal_urls: Readonly<Record<string, string>>;
  /** What each service's own programs are told. */
  readonly environments: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** What the operator's commands and the demo data reach. */
export function operatorSite(site: ServiceSite): OperatorSite {
  const rabbitmq = storeUserUrl('rabbitmq', 'operator', site);
  return {
    rabbitmq,
    namespace: rabbitmqNamespace(site.settings),
    internal_urls: Object.fromEntries(
      serviceNames.map((name) => [name, loopback(site.ports.internal[name])]),
    ),
    environments: Object.fromEntries(
      serviceNames.map((name) => [name, { ...serviceEnvironment(name, site), RABBITMQ_URL: rabbitmq }]),
    ),
  };
}

/** What `stack.json` tells before the demo data is there. */
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
  };
}

function loopback(port: number): string {
  return `http://127.0.0.1:${port}`;
}
