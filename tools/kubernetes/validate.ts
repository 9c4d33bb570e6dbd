import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { runProgram } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import type { Manifest } from './kustomize.ts';

const compiler = join(root, 'node_modules', '@typescript', 'native', 'bin', 'tsc');

/** The packages with the models of custom resources, by API group; `kubernetes-models` has all others. */
const customResources: Readonly<Record<string, string>> = {
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

const modelClass = z.custom<new (data: object) => { validate(): void }>(
  (value) => typeof value === 'function',
);

/** Validates manifests by the schemas of Kubernetes, and by compiling them. Returns the problems. */
export async function validateManifests(manifests: readonly Manifest[]): Promise<string[]> {
  const bySchema = await Promise.all(manifests.map((manifest) => schemaProblems(manifest)));
  return [...bySchema.flat(), ...(await typeProblems(manifests))];
}

/** Finds wrong types, formats and missing fields, but not unknown fields. */
async function schemaProblems(manifest: Manifest): Promise<string[]> {
  const { kind, metadata } = manifest;
  try {
    const models = z.record(z.string(), modelClass).parse(await import(modelPath(manifest)));
    const Model = models[kind];
    if (Model === undefined) throw new Error('has no model.');
    new Model(manifest).validate();
    return [];
  } catch (error) {
    return [`${kind} ${metadata.name}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** Finds unknown fields: compiles each manifest as an object literal of its model's interface `I<Kind>`. */
async function typeProblems(manifests: readonly Manifest[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  try {
    const file = join(folder, 'manifests.mts');
    const lines = manifests.map((manifest, index) => {
      const path = join(root, 'node_modules', `${modelPath(manifest)}.js`);
      return `export const m${index}: import(${JSON.stringify(path)}).I${manifest.kind} = ${JSON.stringify(manifest)};`;
    });
    writeFileSync(file, lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--pretty', 'false', '--module', 'nodenext'];
    const noGlobalTypes = ['--types', ''];
    const { code, output } = await runProgram(
      process.execPath,
      [compiler, ...options, ...noGlobalTypes, file],
      { cwd: folder },
    );
    if (code === 0) return [];
    return output
      .trim()
      .split('\n')
      .map((line) => withName(line, manifests));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Prefixes a problem with the name of its manifest, which is in the line of the problem. */
function withName(problem: string, manifests: readonly Manifest[]): string {
  const found = manifests[Number(/\((\d+),/.exec(problem)?.[1]) - 1];
  return found === undefined ? problem : `${found.kind} ${found.metadata.name}: ${problem}`;
}

function modelPath({ apiVersion, kind }: Manifest): string {
  const group = apiVersion.split('/')[0] ?? '';
  return `${customResources[group] ?? 'kubernetes-models'}/${apiVersion}/${kind}`;
}
