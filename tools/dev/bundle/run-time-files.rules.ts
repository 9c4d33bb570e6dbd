/** Legal texts of a package, which are kept although they may be Markdown. */
const licence = /^(licen[cs]e|notice|copying|third[-_]?party)/i;

/** Endings of files that Node.js never loads. */
const developmentFile = /(\.map|\.tsbuildinfo|\.[cm]?tsx?|\.(spec|test)\.[cm]?js|\.md|\.markdown|\.flow)$/i;

/** Folders of packages that contain only tests, documentation or code for browsers. */
const developmentFolder = /^(__tests__|tests?|docs?|examples?|benchmarks?|\.github|browser|coverage|umd)$/;

/**
 * Whether a file or folder belongs in a deployable folder.
 * @param path a path in the repository
 */
export function isNeededAtRunTime(path: string): boolean {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  if (name === 'node_modules') return false; // its packages are copied one by one
  if (licence.test(name)) return true;
  const packageStart = parts.lastIndexOf('node_modules');
  // Keeps Markdown, unlike in packages: services serve the documentation in docs/reference.
  if (packageStart === -1) return !/(\.map|\.d\.ts|\.tsbuildinfo|\.spec\.[jt]s)$/.test(name);
  const scope = parts[packageStart + 1]?.startsWith('@') === true ? 1 : 0;
  const inside = parts.slice(packageStart + 2 + scope);
  // Only at the root of a package: deeper folders of these names may contain code.
  if (inside.length === 1 && developmentFolder.test(name)) return false;
  return !developmentFile.test(name);
}
