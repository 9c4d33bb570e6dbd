import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** Imports between folders by `src`: `a>b` if a file of the folder `a` imports one of the folder `b`. */
const importsBySrc = new Map();

function importsOf(src) {
  const files = globSync('*/**/*.ts', { cwd: src, exclude: isTest }).map((file) => join(src, file));
  return new Set(
    files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bfrom '([^']+)'/g)].map(([, specifier]) =>
        edge(...foldersOf(src, file, specifier)),
      ),
    ),
  );
}

/** The folders of `src` in which a file and the file that it imports are; undefined outside of them. */
function foldersOf(src, file, specifier) {
  const imported = specifier.startsWith('.') ? join(dirname(file), specifier) : file;
  return [file, imported].map((path) => {
    const [folder, ...rest] = relative(src, path).split(sep);
    return rest.length === 0 || folder === '..' ? undefined : folder;
  });
}

const edge = (from, to) => `${from}>${to}`;

function isTest(file) {
  return /\.(spec|fixture)\.ts$/.test(file);
}

/** Two folders of a project's `src` do not import each other (docs/adr/0002); tests may. */
export const oneWayFolders = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { twoWay: 'The folders {{from}} and {{to}} import each other. Move what both need into one.' },
  },
  create({ filename, report }) {
    const [src] = /^.*?\/(apps|libs)\/[^/]+\/src(?=\/)/.exec(filename) ?? [];
    if (src === undefined || isTest(filename)) return {};
    return {
      'ImportDeclaration, ExportNamedDeclaration[source], ExportAllDeclaration'(node) {
        const [from, to] = foldersOf(src, filename, node.source.value);
        if (from === undefined || to === undefined || from === to) return;
        if (!importsBySrc.has(src)) importsBySrc.set(src, importsOf(src));
        if (importsBySrc.get(src).has(edge(to, from)))
          report({ node, messageId: 'twoWay', data: { from, to } });
      },
    };
  },
};
