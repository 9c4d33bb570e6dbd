import { readdirSync, readFileSync } from 'node:fs';

const here = new URL('.', import.meta.url);
const manifest: Record<string, unknown> = JSON.parse(readFileSync(new URL('../package.json', here), 'utf8'));
const sources = readdirSync(here).filter((name) => !/\.(spec|fixture)\.ts$/.test(name));

describe('the package webhook-verifier', () => {
  it('has no dependencies, so that @fulfilment/client can contain a copy of it', () => {
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
      expect(manifest[kind]).toBeUndefined();
  });

  it.each(sources)('imports in %s only files of its own and modules of Node', (name) => {
    const source = readFileSync(new URL(name, here), 'utf8');
    const imported = [...source.matchAll(/ from '([^']+)'/g)].map(([, from = '']) => from);
    expect(imported.filter((from) => !/^(\.\/|node:)/.test(from))).toEqual([]);
  });
});
