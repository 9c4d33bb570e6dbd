import ts from 'typescript';
import {
  type BannedWord,
  bannedInIdentifiers,
  bannedInText,
  bannedPrefixes,
  maxCommentColumns,
} from './word-list.ts';

export interface Finding {
  readonly line: number;
  readonly found: string;
  /** The words to use instead. */
  readonly use: string;
}

/** A comment `words: REASON` exempts its own line and the next one. */
const exception = /(\/\/|\/?\*|<!--) *words: (?!-->|\*\/)\S/;

/**
 * Returns the banned words in the identifiers, comments and test titles of TypeScript or JavaScript, and the
 * comment lines that are too wide.
 */
export function findInSource(text: string): Finding[] {
  const source = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, false);
  const findings: Finding[] = [];
  /** Comments by their position, since one comment may belong to several nodes. */
  const comments = new Map<number, ts.CommentRange>();
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const line = lineAt(node.getStart(source));
      findings.push(...findInIdentifier(node.text).map((finding) => ({ ...finding, line })));
    }
    const title = testTitleOf(node);
    if (title !== undefined) findings.push(...findInLine(title.text, lineAt(title.end)));
    for (const range of commentsAt(text, node)) comments.set(range.pos, range);
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const range of commentsAt(text, source.endOfFileToken)) comments.set(range.pos, range);
  for (const { pos, end } of comments.values()) {
    const { character: column } = source.getLineAndCharacterOfPosition(pos);
    findings.push(...findInComment(text.slice(pos, end), { line: lineAt(pos), column }));
  }
  return withoutExceptions(findings, text);
}

/** Returns the banned words of a Markdown document, except those in code blocks and code spans. */
export function findInMarkdown(text: string): Finding[] {
  let isCode = false;
  const findings = text.split('\n').flatMap((content, index) => {
    if (content.trimStart().startsWith('```')) isCode = !isCode;
    return isCode ? [] : findInLine(withoutCodeSpans(content), index + 1);
  });
  return withoutExceptions(findings, text);
}

function findInIdentifier(name: string): Omit<Finding, 'line'>[] {
  const words = name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).map((word) => word.toLowerCase());
  const matches = (banned: readonly BannedWord[], values: readonly string[]): BannedWord[] =>
    banned.filter(({ word }) => values.some((value) => word.test(value)));
  return [...matches(bannedInIdentifiers, words), ...matches(bannedPrefixes, [name])].map(({ use }) => ({
    found: name,
    use,
  }));
}

function findInComment(
  comment: string,
  start: { readonly line: number; readonly column: number },
): Finding[] {
  return comment.split('\n').flatMap((content, index) => {
    const line = start.line + index;
    const columns = content.length + (index === 0 ? start.column : 0);
    const wide =
      columns > maxCommentColumns
        ? [{ line, found: `a comment of ${columns} columns`, use: `at most ${maxCommentColumns}` }]
        : [];
    return [...findInLine(withoutCodeSpans(content), line), ...wide];
  });
}

function withoutCodeSpans(content: string): string {
  return content.replaceAll(/`[^`]*`/g, '');
}

function findInLine(content: string, line: number): Finding[] {
  return bannedInText.flatMap(({ word, use }) =>
    [...content.matchAll(word)].map(([found]) => ({ line, found, use })),
  );
}

/** Returns the title of a call such as `it('…', …)` or `describe.each(…)('…', …)`. */
function testTitleOf(node: ts.Node): ts.StringLiteralLike | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  let callee: ts.Expression = node.expression;
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) callee = callee.expression;
  const [title] = node.arguments;
  const isTest = ts.isIdentifier(callee) && (callee.text === 'it' || callee.text === 'describe');
  return isTest && title !== undefined && ts.isStringLiteralLike(title) ? title : undefined;
}

function commentsAt(text: string, node: ts.Node): ts.CommentRange[] {
  return [
    ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
    ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
  ];
}

function withoutExceptions(findings: readonly Finding[], text: string): Finding[] {
  const lines = text.split('\n');
  const isAllowed = (line: number): boolean =>
    exception.test(lines[line - 1] ?? '') || exception.test(lines[line - 2] ?? '');
  return findings.filter(({ line }) => !isAllowed(line)).toSorted((a, b) => a.line - b.line);
}
