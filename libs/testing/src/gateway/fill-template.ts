/**
 * Replaces each `${NAME}` by its value, as envsubst does in the image. Set-up runs this file before the
 * build, so it imports no code of the project.
 * @throws if a name has no value, or a value is not used
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const unused = new Set(Object.keys(values));
  const text = template.replaceAll(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The template needs ${name}, which has no value.`);
    unused.delete(name);
    return value;
  });
  if (unused.size > 0) throw new Error(`The template does not use ${[...unused].join(', ')}.`);
  return text;
}
