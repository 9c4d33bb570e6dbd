import { existsSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import JestRuntime from 'jest-runtime';

const require = createRequire(import.meta.url);
const globalsModule = 'jest:globals';
const relativeJavaScript = /^\.{1,2}\/.*\.js$/;
const esm = {
  supportsDynamicImport: true,
  supportsExportNamespaceFrom: true,
  supportsStaticESM: true,
  supportsTopLevelAwait: true,
};

/** Paths of the source maps by the URL of the module, for all files that this process has loaded. */
const sourceMaps = new Map();
/** @type {ProcessRuntime} the runtime of the current spec file; a process runs one file at a time */
let running;
/** Number of spec files that this process has run; part of the URLs of files that Node loads for each. */
let specFileCount = 0;

/**
 * A Jest runtime that loads modules by Node's own loader instead of linking them in a `vm` context. The spec
 * files of a process share the modules that are already loaded. It does not support module mocks.
 * See ADR 54.
 */
class ProcessRuntime extends JestRuntime {
  #transformer;
  #testFile;

  constructor(config, environment, resolver, transformer, cacheFS, coverageOptions, testFile, globalConfig) {
    super(config, environment, resolver, transformer, cacheFS, coverageOptions, testFile, globalConfig);
    this.#transformer = transformer;
    this.#testFile = testFile;
    running = this;
    specFileCount += 1;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** Runs a set-up file or the spec file, once for each spec file. */
  async unstable_importModule(file) {
    const url = pathToFileURL(file).href;
    return import(file.endsWith('.ts') ? `${url}?file=${specFileCount}` : url);
  }

  /** Loads a module of Jest whose state belongs to one spec file. */
  requireInternalModule(file) {
    delete require.cache[file];
    return require(file);
  }

  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime(globals);
    globalThis.jest = this.requireModuleOrMock(this.#testFile, '@jest/globals').jest;
  }

  getSourceMaps() {
    return sourceMaps;
  }

  /** Compiles a TypeScript file by the transform of the Jest configuration, with Jest's cache. */
  compile(url) {
    const { code, sourceMapPath } = this.#transformer.transform(fileURLToPath(url), esm);
    if (sourceMapPath) sourceMaps.set(url, sourceMapPath);
    return code;
  }
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === '@jest/globals') return { url: globalsModule, shortCircuit: true };
    if (relativeJavaScript.test(specifier) && isTypeScript(context.parentURL)) {
      const source = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
      if (existsSync(source)) return { url: source.href, shortCircuit: true };
    }
    const conditions = ['@fulfilment/source', ...(context.conditions ?? [])];
    return nextResolve(specifier, { ...context, conditions });
  },
  load(url, context, nextLoad) {
    if (url === globalsModule) return { format: 'module', source: globalsSource(), shortCircuit: true };
    if (isTypeScript(url)) return { format: 'module', source: running.compile(url), shortCircuit: true };
    return nextLoad(url, context);
  },
});

function isTypeScript(url = '') {
  return url.startsWith('file:') && new URL(url).pathname.endsWith('.ts');
}

/** The module `@jest/globals`. Its functions forward to those of the running spec file. */
function globalsSource() {
  const names = 'afterAll afterEach beforeAll beforeEach describe expect it jest test'.split(' ');
  const forward = `const forward = (name) => new Proxy(() => undefined, {
    apply: (_, self, args) => globalThis[name](...args),
    get: (_, key) => globalThis[name][key],
  });`;
  return [forward, ...names.map((name) => `export const ${name} = forward('${name}');`)].join('\n');
}

export { ProcessRuntime as 'module.exports' };
