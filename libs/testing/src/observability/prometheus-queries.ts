/** A metric that a query reads, with the labels that it matches. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
  /** The value of the label `job` that it requires, if any. */
  readonly job: string | undefined;
}

/**
 * Returns the selectors of a query in PromQL. A name without `_`, except `ALERTS`, counts only with label
 * matchers, since it may be a function or an operator.
 */
export function selectorsOf(query: string): readonly Selector[] {
  const withoutClauses = query
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, '')
    .replaceAll(/\[[^\]]*\]/g, '');
  // A name with label matchers, or a name that is not followed by `{`, by the `(` of an argument list, or by
  // the closing quote of a text.
  const matches = [
    ...withoutClauses.matchAll(/\b([a-zA-Z]\w*)\b(?:\s*\{((?:"[^"]*"|[^"}])*)\}|(?!\s*[({"]))/g),
  ];
  return matches
    .filter(([, name = '', matchers]) => matchers !== undefined || name.includes('_') || name === 'ALERTS')
    .map(([, metric = '', matchers = '']) => ({
      metric,
      labels: [...matchers.matchAll(/(\w+)(?:=|!)/g)].map(([, label = '']) => label),
      job: /\bjob="([^"]+)"/.exec(matchers)?.[1],
    }));
}

/** Returns the labels by which a query groups. */
export function groupLabelsOf(query: string): readonly string[] {
  return [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
}
