/** Paragraphs of a reference that are true of both APIs. */

export const requests =
  'Bodies are JSON (`Content-Type: application/json`) of at most the size that the operation names (413), with at most 5000 members, nested at most 32 deep. Members that are not documented are ignored; `null` for an optional member is the same as leaving it out. A query\n' +
  'parameter may be given once.';

export const answers = `
Answers are JSON in UTF-8. Members may be added at any time, so ignore those you do not know; nothing is taken away or changes its meaning without 12 months of notice (\`Deprecation\` of RFC 9745, \`Sunset\` of RFC 8594).
Every answer carries \`X-Request-Id\`: name it when you ask us about a request.
`.trim();

export const browsers = "Pages of any origin may call (CORS), without credentials of the browser's own.";
