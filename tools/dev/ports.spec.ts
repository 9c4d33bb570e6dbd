import { createServer } from 'node:net';
import { portsFrom, withFreeDependencyPorts } from './ports.ts';

describe('the ports of a suite', () => {
  it('follow its base port and are distinct', () => {
    const { services, internal, ...others } = portsFrom(8443);
    const all = [...Object.values(services), ...Object.values(internal), ...Object.values(others)];
    expect(others.gateway).toBe(8443);
    expect(services['store-api']).toBe(8444);
    expect(internal['store-api']).toBe(8454);
    expect(others.postgres).toBe(8464);
    expect(new Set(all).size).toBe(all.length);
  });

  it('are replaced for those dependencies whose port another program uses', async () => {
    const plan = portsFrom(28943);
    const other = createServer();
    await new Promise<void>((listening) => other.listen(plan.postgres, '127.0.0.1', listening));
    try {
      const ports = await withFreeDependencyPorts(plan);
      expect(ports.gateway).toBe(plan.gateway);
      expect(ports.postgres).toBe(plan.postgres + 100); // one step further
      expect(ports.redis).toBe(plan.redis);
    } finally {
      other.close();
    }
  });
});
