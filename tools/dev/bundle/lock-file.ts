import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../failure.ts';
import { root } from '../settings.ts';

const names = z.record(z.string(), z.string()).optional();
const platforms = z.union([z.string(), z.array(z.string())]).optional();
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      /** Only where it differs from the path: of projects and aliases. */
      name: z.string().optional(),
      version: z.string().optional(),
      license: z.string().optional(),
      /** The only platforms on which the package is installed. */
      os: platforms,
      cpu: platforms,
      libc: platforms,
      /** The project that a workspace link leads to, or the URL of a package. */
      resolved: z.string().optional(),
      link: z.boolean().optional(),
      integrity: z.string().optional(),
      dependencies: names,
      optionalDependencies: names,
      peerDependencies: names,
      peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().optional() })).optional(),
    }),
  ),
});
export type LockFile = z.infer<typeof lockSchema>;
export type LockedPackage = LockFile['packages'][string];

export function readLockFile(): LockFile {
  return lockSchema.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
}

/** Returns the transitive dependencies of a project at run time, without development dependencies. */
export function requiredPackages({ packages }: LockFile, project: string) {
  const projects = new Set<string>();
  const installed = new Set<string>();
  const links = new Map<string, string>();
  const add = (path: string): void => {
    if (projects.has(path) || installed.has(path)) return;
    const locked = packages[path] ?? missing(path);
    (path.includes('node_modules') ? installed : projects).add(path);
    for (const { name, isOptional } of dependenciesOf(locked)) {
      const found = resolve(packages, path, name);
      if (found === undefined) {
        if (isOptional) continue;
        throw new Failure(`The lock file has no ${name}, which ${path} needs. Run npm install.`);
      }
      const { link, resolved } = packages[found] ?? missing(found);
      if (link === true && resolved !== undefined) {
        links.set(found, resolved);
        add(resolved);
      } else add(found);
    }
  };
  add(project);
  return {
    /** Folders of the projects: the app and its libraries. */
    projects: [...projects].sort(),
    /** Folders of the installed packages, such as `node_modules/pg`. */
    packages: [...installed].sort(),
    /** Links in node_modules to libraries of the repository. */
    links: [...links]
      .map(([path, linkedProject]) => ({ path, project: linkedProject }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

function dependenciesOf(locked: LockedPackage): { name: string; isOptional: boolean }[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = locked;
  const peers = Object.keys(peerDependencies).filter(
    (name) => locked.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [
    ...[...Object.keys(dependencies), ...peers].map((name) => ({ name, isOptional: false })),
    ...Object.keys(optionalDependencies).map((name) => ({ name, isOptional: true })),
  ];
}

/** Finds a package as Node.js does: in the node_modules of the folder, then of each folder above it. */
function resolve(packages: LockFile['packages'], from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = folder === '.' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in packages) return path;
    if (folder === '.') return undefined;
  }
}

function missing(path: string): never {
  throw new Failure(`The lock file has no ${path}. Run npm install.`);
}
