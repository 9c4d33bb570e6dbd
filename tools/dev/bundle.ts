import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { reasonOf } from './failure.ts';
import { mustRun, namesIn } from './run-program.ts';
import { root } from './settings.ts';

const packageSchema = z.object({
  name: z.string(),
  dependencies: z.record(z.string(), z.string()).optional(),
  /** Files besides code that the app reads at run time, by their path in the repository. */
  bundledFiles: z.array(z.string()).optional(),
});
const scope = '@fulfilment/';

/**
 * Creates the deployable folder `dist/apps/NAME` of an app: the app, its libraries, production packages and
 * run-time files, laid out like the repository. `node apps/NAME/dist/main.js` runs there without other files.
 * The app must be built; Nx runs this as the target `bundle` and caches the result.
 */
async function bundle(appDir: string): Promise<void> {
  const app = join('apps', basename(appDir));
  const target = join(root, 'dist', app);
  rmSync(target, { recursive: true, force: true });
  const copy = (path: string): void => {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(root, path), join(target, path), { recursive: true });
  };
  // npm checks the lock file against every workspace, so all manifests are copied, but only the used code.
  for (const path of ['package.json', 'package-lock.json', '.npmrc', ...workspaces()]) {
    copy(path.includes('.') ? path : join(path, 'package.json'));
  }
  for (const project of [app, ...requiredLibraries(app)]) copy(join(project, 'dist'));
  for (const file of readManifest(app).bundledFiles ?? []) copy(file);
  await mustRun(
    'npm',
    [
      'ci',
      '--omit=dev',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--workspace',
      app,
      '--include-workspace-root=false',
    ],
    { cwd: target, env: cleanEnvironment() },
  );
}

function workspaces(): string[] {
  const groups = ['apps', 'libs'].flatMap((group) =>
    namesIn(join(root, group)).map((name) => join(group, name)),
  );
  return [...groups, 'tools'].filter((path) => existsSync(join(root, path, 'package.json')));
}

/** Returns the project's libraries, including transitive ones. */
function requiredLibraries(project: string, found = new Set<string>()): Set<string> {
  const { dependencies = {} } = readManifest(project);
  for (const name of Object.keys(dependencies).filter((dependency) => dependency.startsWith(scope))) {
    const library = join('libs', name.slice(scope.length));
    if (found.has(library)) continue;
    found.add(library);
    requiredLibraries(library, found);
  }
  return found;
}

function readManifest(project: string): z.output<typeof packageSchema> {
  return packageSchema.parse(JSON.parse(readFileSync(join(root, project, 'package.json'), 'utf8')));
}

/** The environment without npm's variables, which would affect the inner npm. */
function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$)/i.test(name)));
}

bundle(process.cwd()).catch((error: unknown) => {
  console.error(reasonOf(error));
  process.exit(1);
});
