import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { findProgram, runProgram } from '../dev/run-program.ts';
import { manifestSchema, renderKustomization } from './kustomize.ts';
import { overlayFolder, overlays } from './manifests.ts';
import { validateManifests } from './validate.ts';

const kubectl = findProgram('kubectl');

describe('the renderer of kustomizations', () => {
  (kubectl === undefined ? it.skip : it).each(overlays)(
    'builds the overlay %s like kubectl, except for hashes in the names of ConfigMaps',
    async (name) => {
      const { code, output } = await runProgram(kubectl ?? '', ['kustomize', overlayFolder(name)]);
      expect(code).toBe(0);
      const theirs = parseAllDocuments(output).map((document): unknown => document.toJS());
      const withoutHashes = JSON.stringify(theirs).replaceAll(/(-settings)-[a-z0-9]{10}"/g, '$1"');
      const ours = JSON.stringify(renderKustomization(overlayFolder(name)));
      expect(byName(ours)).toEqual(byName(withoutHashes));
    },
  );

  it.each([
    ['the label selector "a==b"', { kind: 'ConfigMap', labelSelector: 'a==b' }, '/data/key'],
    ['the label selector "a in (b)"', { kind: 'ConfigMap', labelSelector: 'a in (b)' }, '/data/key'],
    ['an escape in a path', { kind: 'ConfigMap' }, '/metadata/labels/example.com~1key'],
  ])('rejects %s, which it does not support', (_, target, path) => {
    const directory = mkdtempSync(join(tmpdir(), 'kustomization-'));
    const patch = JSON.stringify([{ op: 'add', path, value: 'value' }]);
    const settings = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      configMapGenerator: [{ name: 'settings', literals: ['key=value'] }],
      patches: [{ target, patch }],
    };
    writeFileSync(join(directory, 'kustomization.yaml'), JSON.stringify(settings));
    try {
      expect(() => renderKustomization(directory)).toThrow(/invalid_format/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('the validation of manifests', () => {
  it('finds wrong types, and missing and unknown fields and kinds', async () => {
    const ports = [{ name: 'http', port: 80 }];
    const problems = await validateManifests([
      object('Service', 'fine', { ports }),
      object('Service', 'wrong-type', { ports: 80 }),
      object('Service', 'missing-field', { ports: [{ name: 'http' }] }),
      object('Service', 'unknown-field', { ports, port: 80 }),
      object('Servce', 'unknown-kind', {}),
    ]);
    const expected = ['missing-field', 'unknown-field', 'unknown-kind', 'wrong-type'];
    expect([...new Set(problems.map((line) => /^\w+ ([\w-]+):/.exec(line)?.[1]))].toSorted()).toEqual(
      expected,
    );
  });
});

function object(kind: string, name: string, spec: object) {
  return { apiVersion: 'v1', kind, metadata: { name, labels: {} }, spec };
}

/** Objects by kind and name. An object without labels has empty ones. */
function byName(json: string): ReadonlyMap<string, unknown> {
  const all = z.array(manifestSchema).parse(JSON.parse(json));
  return new Map(all.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest]));
}
