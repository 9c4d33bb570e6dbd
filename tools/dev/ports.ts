import { connect, createServer } from 'node:net';

/** Services in the order in which their ports follow the base port. */
export const serviceNames = ['store-api', 'creator-api', 'auth-server', 'webhook-worker'] as const;
export type ServiceName = (typeof serviceNames)[number];

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
const dependencyOffset = 20;
export const lastOffset = 25;

/** Every port of a suite, from its one base port. */
export function portsFrom(base: number): Ports {
  const each = (offset: number): Record<ServiceName, number> => ({
    'store-api': base + offset + 1,
    'creator-api': base + offset + 2,
    'auth-server': base + offset + 3,
    'webhook-worker': base + offset + 4,
  });
  return {
    gateway: base,
    services: each(0),
    internal: each(internalOffset),
    postgres: base + dependencyOffset + 1,
    redis: base + dependencyOffset + 2,
    rabbitmq: base + dependencyOffset + 3,
    rabbitmqDistribution: base + dependencyOffset + 4,
    epmd: base + lastOffset,
  };
}

/** The same plan with each port but the gateway's moved where another program holds it. */
export async function withoutTakenPorts(plan: Ports): Promise<Ports> {
  const taken = new Set<number>();
  const pick = async (wanted: number): Promise<number> => {
    let port = wanted;
    while (taken.has(port) || (await isTaken(port))) port = await freePort();
    taken.add(port);
    return port;
  };
  const pickEach = async (ports: Ports['services']): Promise<Ports['services']> => ({
    'store-api': await pick(ports['store-api']),
    'creator-api': await pick(ports['creator-api']),
    'auth-server': await pick(ports['auth-server']),
    'webhook-worker': await pick(ports['webhook-worker']),
  });
  return {
    gateway: plan.gateway,
    services: await pickEach(plan.services),
    internal: await pickEach(plan.internal),
    postgres: await pick(plan.postgres),
    redis: await pick(plan.redis),
    rabbitmq: await pick(plan.rabbitmq),
    rabbitmqDistribution: await pick(plan.rabbitmqDistribution),
    epmd: await pick(plan.epmd),
  };
}

/** Whether somebody listens there, on loopback or on every address. */
export async function isTaken(port: number): Promise<boolean> {
  return (await answers(port)) || !(await canListen(port));
}

export function answers(port: number, withinMs = 1_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(withinMs, () => end(false));
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

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1' }, () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('No free port was found.'));
        else resolve(address.port);
      });
    });
  });
}
