import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';

/** A Kubernetes object. */
export type Manifest = z.infer<typeof manifestSchema>;
export const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
});

const operation = z.strictObject({
  op: z.enum(['add', 'replace']),
  path: z.string().regex(/^(\/[^/~]+)+$/), // without the escapes ~0 and ~1
  value: z.unknown(),
});
type Operation = z.infer<typeof operation>;
const target = z.strictObject({
  kind: z.string(),
  name: z.string().optional(),
  /** Terms `label=value` and `label!=value`, separated by commas. */
  labelSelector: z
    .string()
    .regex(/^[\w./-]+!?=[\w.-]+(,[\w./-]+!?=[\w.-]+)*$/)
    .optional(),
});

/** The features of kustomize that deploy/kubernetes uses; any other feature is rejected. */
const kustomization = z.strictObject({
  apiVersion: z.string().startsWith('kustomize.config.k8s.io/'),
  kind: z.enum(['Kustomization', 'Component']),
  namespace: z.string().optional(),
  nameSuffix: z.string().default(''),
  resources: z.array(z.string()).default([]),
  components: z.array(z.string()).default([]),
  images: z
    .array(
      z.strictObject({ name: z.string(), newName: z.string().optional(), newTag: z.string().optional() }),
    )
    .default([]),
  configMapGenerator: z
    .array(
      z.strictObject({
        name: z.string(),
        behavior: z.enum(['create', 'merge']).default('create'),
        literals: z.array(z.string()),
      }),
    )
    .default([]),
  patches: z.array(z.strictObject({ target, patch: z.string() })).default([]),
});
type Kustomization = z.infer<typeof kustomization>;

/**
 * Builds a kustomization like `kubectl kustomize`, except that it does not append the hash of their content
 * to the names of ConfigMaps.
 * @param extraComponents further components, as if the kustomization listed them
 * @param inherited for a component: the objects that it changes
 * @throws Failure, ZodError
 */
export function renderKustomization(
  directory: string,
  extraComponents: readonly string[] = [],
  inherited: readonly Manifest[] = [],
): Manifest[] {
  const file = join(directory, 'kustomization.yaml');
  const settings = kustomization.parse(parse(readFileSync(file, 'utf8')));
  const resources = settings.resources.flatMap((path) => readResource(join(directory, path)));
  const components = [...settings.components.map((path) => join(directory, path)), ...extraComponents];
  const all = components.reduce(
    (manifests, component) => renderKustomization(component, [], manifests),
    [...inherited, ...resources],
  );
  return transform(withConfigMaps(all, settings), settings, directory);
}

function readResource(path: string): Manifest[] {
  if (statSync(path).isDirectory()) return renderKustomization(path);
  return parseAllDocuments(readFileSync(path, 'utf8'), { version: '1.1', merge: true }).map((document) => {
    if (document.errors[0] !== undefined) throw new Failure(`${path}: ${document.errors[0].message}`);
    return manifestSchema.parse(document.toJS());
  });
}

const literalsSchema = z.record(z.string(), z.string()).default({});

function withConfigMaps(manifests: readonly Manifest[], { configMapGenerator }: Kustomization): Manifest[] {
  return configMapGenerator.reduce(
    (all, { name, behavior, literals }) => {
      const found = all.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name);
      if (behavior === 'merge' && found === undefined)
        throw new Failure(`The ConfigMap ${name} cannot be merged, because no resource has this name.`);
      if (behavior === 'create' && found !== undefined)
        throw new Failure(`The ConfigMap ${name} cannot be created, because it exists already.`);
      const data = Object.fromEntries(
        literals.map((literal) => [
          literal.slice(0, literal.indexOf('=')),
          literal.slice(literal.indexOf('=') + 1),
        ]),
      );
      if (found === undefined)
        return [...all, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: {} }, data }];
      const merged = { ...found, data: { ...literalsSchema.parse(found['data']), ...data } };
      return all.map((existing) => (existing === found ? merged : existing));
    },
    [...manifests],
  );
}

function transform(manifests: readonly Manifest[], settings: Kustomization, directory: string): Manifest[] {
  return manifests
    .map((manifest) => withPatches(manifest, settings, directory))
    .map((manifest) => withName(manifest, settings))
    .map((manifest) => manifestSchema.parse(withImages(manifest, settings)));
}

function withPatches(original: Manifest, { patches }: Kustomization, directory: string): Manifest {
  return patches
    .filter((patch) => matches(original, patch.target))
    .flatMap(({ patch }) => z.array(operation).parse(parse(patch)))
    .reduce(
      (patched, step) =>
        manifestSchema.parse(patchAt(patched, step.path.slice(1).split('/'), step, directory)),
      original,
    );
}

/** Appends the name suffix, and sets the namespace of an object that names none. */
function withName(manifest: Manifest, settings: Kustomization): Manifest {
  const { name, namespace = settings.namespace } = manifest.metadata;
  const namespaced = manifest.kind === 'Namespace' || namespace === undefined ? {} : { namespace };
  const metadata = { ...manifest.metadata, name: `${name}${settings.nameSuffix}`, ...namespaced };
  return { ...manifest, metadata };
}

function matches({ kind, metadata }: Manifest, selector: z.infer<typeof target>): boolean {
  const terms = selector.labelSelector?.split(',') ?? [];
  return (
    new RegExp(`^(${selector.kind})$`).test(kind) &&
    (selector.name === undefined || selector.name === metadata.name) &&
    terms.every((term) => {
      const [label = '', value = ''] = term.split(/!?=/);
      const hasValue = metadata.labels[label] === value;
      return term.includes('!=') ? !hasValue : hasValue;
    })
  );
}

/** Applies an operation of a JSON patch (RFC 6902). Supports members of objects, and the end of a list. */
function patchAt(node: unknown, path: readonly string[], step: Operation, directory: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return step.value;
  const missing = new Failure(`${directory}: the path ${step.path} of a patch does not exist.`);
  if (Array.isArray(node)) {
    const items: unknown[] = node;
    if (key === '-' && step.op === 'add' && rest.length === 0) return [...items, step.value];
    if (items[Number(key)] === undefined || (step.op === 'add' && rest.length === 0)) throw missing;
    return items.with(Number(key), patchAt(items[Number(key)], rest, step, directory));
  }
  if (typeof node !== 'object' || node === null) throw missing;
  const members = new Map<string, unknown>(Object.entries(node));
  if (!members.has(key) && (step.op === 'replace' || rest.length > 0)) throw missing;
  return Object.fromEntries(members.set(key, patchAt(members.get(key), rest, step, directory)));
}

/** Sets names and tags of images at every member `image`. */
function withImages(node: unknown, settings: Kustomization): unknown {
  if (Array.isArray(node)) return node.map((item) => withImages(item, settings));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]: [string, unknown]) => {
      const image = key === 'image' ? settings.images.find(({ name }) => name === value) : undefined;
      if (image === undefined) return [key, withImages(value, settings)];
      return [key, `${image.newName ?? image.name}${image.newTag === undefined ? '' : `:${image.newTag}`}`];
    }),
  );
}
