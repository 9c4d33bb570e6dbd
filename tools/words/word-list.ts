/** A word that this project does not use, and what it uses instead (docs/glossary.md). */
export interface BannedWord {
  readonly word: RegExp;
  readonly use: string;
}

/** Matched against each word of an identifier, in lower case: `toldAtMs` has the words "told", "at" and "ms". */
export const bannedInIdentifiers: readonly BannedWord[] = [
  { word: /^(told|tells?|telling)$/, use: 'notified, published, reported' },
  { word: /^(again|anew)$/, use: 'retry, replay, re-create' },
  { word: /^(beside|besides|meanwhile)$/, use: 'concurrent, during' },
  { word: /^(refuse|refuses|refused|refusing|refusals?)$/, use: 'reject, rejection' },
  { word: /^(judges?|judged|judging)$/, use: 'validate, classify' },
  {
    word: /^(forgets?|forgotten|sweeps?|sweeper|prunes?|pruner|tidy|tidies|upkeep)$/,
    use: 'delete, clean up',
  },
  { word: /^(mend|mends|mended)$/, use: 'fix' },
  { word: /^(askers?|whoever|nobody|somebody)$/, use: 'caller, client, no process' },
  { word: /^(honours?|honoured)$/, use: 'resolve' },
  { word: /^(answers?|asks|asked|asking)$/, use: 'response, result; request, query' },
  { word: /^(these|whom)$/, use: 'a noun' },
];

/** Matched against the start of an identifier. */
export const bannedPrefixes: readonly BannedWord[] = [
  { word: /^most[A-Z]/, use: 'max' },
  { word: /^least[A-Z]/, use: 'min' },
];

/** Matched against comments, test titles and documentation. The flag `g` finds all matches of a line. */
export const bannedInText: readonly BannedWord[] = [
  { word: /\b(told|tells?|telling|hears? of|heard of)\b/gi, use: 'notified, published, reported' },
  { word: /\banew\b/gi, use: 'retry, replay, re-create' },
  { word: /\b(beside|meanwhile)\b/gi, use: 'concurrently, next to, during' },
  { word: /\bby hand\b/gi, use: 'manually' },
  { word: /\b(refuses?|refused|refusing|refusals?)\b/gi, use: 'reject, rejection' },
  { word: /\b(judges?|judged|judging)\b/gi, use: 'validate, classify' },
  { word: /\b(mend|mends|mended)\b/gi, use: 'fix' },
  { word: /\b(askers?|whoever|nobody|somebody)\b/gi, use: 'the caller, no process, another replica' },
  { word: /\banswers?\b/gi, use: 'response, result' },
  { word: /\b(stand-ins?|takes turns)\b/gi, use: 'fake; serialise' },
];

export const maxCommentColumns = 110;
