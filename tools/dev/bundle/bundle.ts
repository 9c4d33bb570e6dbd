import {
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { Failure, reasonOf } from '../failure.ts';
import { readLockFile, requiredPackages } from './lock-file.ts';
import { root } from '../settings.ts';
import { isNeededAtRunTime } from './run-time-files.rules.ts';

const manifestSchema = z.looseObject({
  /** Files besides code that the app reads at run time, by their path in the repository. */
  bundledFiles: z.array(z.string()).optional(),
});

/**
 * Creates the deployable folder `dist/apps/NAME` of an app: the app, its libraries, production packages and
 * run-time files, laid out like the repository. `node apps/NAME/dist/main.js` runs there without other files.
 * The packages are copied from node_modules, which the lock file determines, so the same commit gives the
 * same files. The app must be built; Nx runs this as the target `bundle` and caches the result.
 */
function bundle(appDir: string): void {
  const app = join('apps', basename(appDir));
  const target = join(root, 'dist', app);
  rmSync(target, { recursive: true, force: true });
  const { projects, packages, links } = requiredPackages(readLockFile(), app);
  for (const project of projects) {
    if (existsSync(join(root, project, 'tsconfig.build.json'))) checkIsBuilt(project);
    copyFiles(join(project, 'dist'), target);
    copyManifest(project, target);
  }
  for (const path of packages) copyFiles(path, target);
  for (const { path, project } of links) {
    const link = join(target, path);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(relative(dirname(path), project), link);
  }
  for (const file of readManifest(app).bundledFiles ?? []) copyFiles(file, target);
  const epoch = process.env.SOURCE_DATE_EPOCH;
  if (epoch !== undefined && epoch !== '') setTimes(target, Number(epoch));
}

/** Copies a file or folder, without the packages below it and without files for development. */
function copyFiles(path: string, target: string): void {
  const source = join(root, path);
  if (!existsSync(source)) return; // an optional package of another platform, or a project without code
  mkdirSync(dirname(join(target, path)), { recursive: true });
  cpSync(source, join(target, path), {
    recursive: true,
    filter: (file) => file === source || isNeededAtRunTime(relative(root, file)),
  });
}

function checkIsBuilt(project: string): void {
  if (!existsSync(join(root, project, 'dist')))
    throw new Failure(`${project} is not built. Run npm run build.`);
}

/** Node.js needs only these members of a project's manifest to resolve its modules. */
function copyManifest(project: string, target: string): void {
  const { name, version, type, exports } = readManifest(project);
  const text = `${JSON.stringify({ name, version, type, exports }, null, 2)}\n`;
  mkdirSync(join(target, project), { recursive: true });
  writeFileSync(join(target, project, 'package.json'), text);
}

function readManifest(project: string): z.output<typeof manifestSchema> {
  return manifestSchema.parse(JSON.parse(readFileSync(join(root, project, 'package.json'), 'utf8')));
}

/** Sets the times of all files, since they are part of an image layer. */
function setTimes(path: string, epochSeconds: number): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) setTimes(child, epochSeconds);
    else lutimesSync(child, epochSeconds, epochSeconds);
  }
  lutimesSync(path, epochSeconds, epochSeconds);
}

try {
  bundle(process.cwd());
} catch (error) {
  console.error(reasonOf(error));
  process.exit(1);
}
