import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** Imports between sibling folders, as `from>to` with their paths in `src`; by the `src` of a project. */
const importsBySrc = new Map();

function importsOf(src) {
  const files = globSync('*/**/*.ts', { cwd: src, exclude: isTest }).map((file) => join(src, file));
  return new Set(
    files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bfrom '(\.[^']+)'/g)].flatMap(([, specifier]) => {
        const folders = siblingFolders(src, file, join(dirname(file), specifier));
        return folders === undefined ? [] : [edge(...folders)];
      }),
    ),
  );
}

/**
 * Returns the two sibling folders, at any depth of `src`, that contain a file and the file that it imports;
 * undefined if one of the files is directly in a folder that contains both.
 */
function siblingFolders(src, file, imported) {
  const from = relative(src, dirname(file)).split(sep);
  const to = relative(src, dirname(imported)).split(sep);
  if (to[0] === '..') return undefined;
  const depth = from.findIndex((folder, index) => folder !== to[index]);
  if (depth === -1 || from[depth] === '' || !to[depth]) return undefined;
  return [from, to].map((folders) => folders.slice(0, depth + 1).join('/'));
}

const edge = (from, to) => `${from}>${to}`;

function isTest(file) {
  return /\.(spec|fixture)\.ts$/.test(file);
}

/** Two sibling folders of a project's `src` do not import each other (ADR 2); tests may. */
export const oneWayFolders = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      twoWay: 'The folders {{from}} and {{to}} import each other. Move what both need into one of them.',
    },
  },
  create({ filename, report }) {
    const [src] = /^.*?\/(apps|libs)\/[^/]+\/src(?=\/)/.exec(filename) ?? [];
    if (src === undefined || isTest(filename)) return {};
    return {
      'ImportDeclaration, ExportNamedDeclaration[source], ExportAllDeclaration'(node) {
        const specifier = node.source.value;
        if (!specifier.startsWith('.')) return;
        const folders = siblingFolders(src, filename, join(dirname(filename), specifier));
        if (folders === undefined) return;
        if (!importsBySrc.has(src)) importsBySrc.set(src, importsOf(src));
        const [from, to] = folders;
        if (importsBySrc.get(src).has(edge(to, from)))
          report({ node, messageId: 'twoWay', data: { from, to } });
      },
    };
  },
};
