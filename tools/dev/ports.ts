import type { ServiceName } from '@fulfilment/contracts/permissions';
import { connect, createServer } from 'node:net';
import { Failure } from './failure.ts';

export interface Ports {
  readonly gateway: number;
  readonly services: Readonly<Record<ServiceName, number>>;
  readonly internal: Readonly<Record<ServiceName, number>>;
  readonly postgres: number;
  readonly redis: number;
  readonly rabbitmq: number;
  readonly rabbitmqDistribution: number;
  readonly epmd: number;
}

const internalOffset = 10;
/** Offset of the port of the OpenTelemetry collector that an end-to-end test starts. */
export const collectorOffset = 15;
const dependencyOffset = 20;
/** The largest offset of a port of the suite from its base port. */
export const lastOffset = 25;
export const maxPort = 65_535;

/** Returns the ports of the gateway, the services and the dependencies of a suite. */
export function portsFrom(base: number): Ports {
  const servicePorts = (offset: number): Record<ServiceName, number> => ({
    'store-api': base + offset + 1,
    'creator-api': base + offset + 2,
    'auth-server': base + offset + 3,
    'webhook-worker': base + offset + 4,
  });
  return {
    gateway: base,
    services: servicePorts(0),
    internal: servicePorts(internalOffset),
    postgres: base + dependencyOffset + 1,
    redis: base + dependencyOffset + 2,
    rabbitmq: base + dependencyOffset + 3,
    rabbitmqDistribution: base + dependencyOffset + 4,
    epmd: base + lastOffset,
  };
}

/** Replaces those ports of dependencies that another program uses by free ones. */
export async function withFreeDependencyPorts(plan: Ports): Promise<Ports> {
  const pick = portPicker();
  return {
    ...plan,
    postgres: await pick(plan.postgres),
    redis: await pick(plan.redis),
    rabbitmq: await pick(plan.rabbitmq),
    rabbitmqDistribution: await pick(plan.rabbitmqDistribution),
    epmd: await pick(plan.epmd),
  };
}

/** Replaces those ports of services that another program uses by free ones, just before they start. */
export async function withFreeServicePorts(plan: Ports): Promise<Ports> {
  const pick = portPicker();
  const pickEach = async (ports: Ports['services']): Promise<Ports['services']> => ({
    'store-api': await pick(ports['store-api']),
    'creator-api': await pick(ports['creator-api']),
    'auth-server': await pick(ports['auth-server']),
    'webhook-worker': await pick(ports['webhook-worker']),
  });
  return { ...plan, services: await pickEach(plan.services), internal: await pickEach(plan.internal) };
}

const connectTimeoutMs = 1_000;
/** Larger than `lastOffset`, so that a replacement is no other port of the same suite. */
const portStep = 100;

/**
 * Returns a function that finds a free port from a wanted one upwards, and never the same port twice. The
 * system does not choose the port, because an outgoing connection could use it before the process listens.
 */
function portPicker(): (wanted: number) => Promise<number> {
  const assignedPorts = new Set<number>();
  return async (wanted) => {
    for (let port = wanted; port <= maxPort; port += portStep) {
      if (assignedPorts.has(port) || (await isTaken(port))) continue;
      assignedPorts.add(port);
      return port;
    }
    throw new Failure(`No free port found from ${wanted} upwards in steps of ${portStep}.`);
  };
}

/** Whether a process listens on the port, or an outgoing connection uses it. */
export async function isTaken(port: number): Promise<boolean> {
  return (await isListening(port)) || !(await canListen(port));
}

/** Whether a process listens on the port, on loopback or on all addresses. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(connectTimeoutMs, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
