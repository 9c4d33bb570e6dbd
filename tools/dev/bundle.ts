import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { reasonOf } from './failure.ts';
import { mustRun, namesIn } from './run-program.ts';
import { root } from './settings.ts';

/**
 * Makes the deployable folder of the app it is run in: `dist/apps/NAME` holds the app, the libraries it uses and its
 * production packages, and the files it names, laid out like the repository, so that `node apps/NAME/dist/main.js` runs there and nowhere else
 * is needed. Expects the app to be built; Nx runs it as the target `bundle` and caches the result.
 */
const packageSchema = z.object({
  name: z.string(),
  dependencies: z.record(z.string(), z.string()).optional(),
  /** What the app reads at run time beyond code, by its place in the repository. */
  bundledFiles: z.array(z.string()).optional(),
});
const scope = '@fulfilment/';

async function bundle(appDir: string): Promise<void> {
  const app = join('apps', basename(appDir));
  const target = join(root, 'dist', app);
  rmSync(target, { recursive: true, force: true });
  const copy = (path: string): void => {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(root, path), join(target, path), { recursive: true });
  };
  // npm checks the lock file against every workspace, so each manifest comes along; only what is used brings code.
  for (const path of ['package.json', 'package-lock.json', '.npmrc', ...workspaces()]) {
    copy(path.includes('.') ? path : join(path, 'package.json'));
  }
  for (const project of [app, ...librariesOf(app)]) copy(join(project, 'dist'));
  for (const file of manifestOf(app).bundledFiles ?? []) copy(file);
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

/** The libraries of ours that a project needs, directly or through others. */
function librariesOf(project: string, found = new Set<string>()): Set<string> {
  const { dependencies = {} } = manifestOf(project);
  for (const name of Object.keys(dependencies).filter((dependency) => dependency.startsWith(scope))) {
    const library = join('libs', name.slice(scope.length));
    if (found.has(library)) continue;
    found.add(library);
    librariesOf(library, found);
  }
  return found;
}

function manifestOf(project: string): z.output<typeof packageSchema> {
  return packageSchema.parse(JSON.parse(readFileSync(join(root, project, 'package.json'), 'utf8')));
}

/** Without what the npm that runs this script would make the inner one believe. */
function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$)/i.test(name)));
}

bundle(process.cwd()).catch((error: unknown) => {
  console.error(reasonOf(error));
  process.exit(1);
});
