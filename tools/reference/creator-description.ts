import { answers, browsers, requests } from './shared-description.ts';

/** What holds for every operation of the Creator API. Told once, in the words of the reference. */
export const creatorDescription = `
What dashboards read and do for creators: their orders with VAT and royalties, a month's sales and royalties, and new releases.

### Who sees what

This API is for first-party tokens: their audience names it, and they need no scope, so nothing here answers 403. \`org_id\` and \`org_role\` of the token decide what its bearer sees: an owner, admin or member the
creators of their organisation, a global admin those of all. A caller of no organisation sees nothing. What you may not see does not exist: 404, the same as for what is nobody's.

### Requests

${requests} Checks come in this order: 401, 429, 400, 404.

### Answers

${answers}

### Identifiers, money and time

- Identifiers are UUIDs; upper case is taken too. Another text in their place is 400.
- Money is an integer in minor units of the \`currency\` beside it: 1099 GBP is £10.99, 1099 JPY is ¥1099. Of an order it is at most 9007199254740991. Sums of a month are exact whatever their size: where they may
  pass that, read them with a JSON parser that keeps large integers.
- Times are RFC 3339 in UTC, dates are \`YYYY-MM-DD\`, months are \`YYYY-MM\`; days and months are those of UTC.

### Lists

Lists are numbered pages, the newest first: \`page\` from 1 to 10000, \`per_page\` from 1 to 100. Past the last page \`data\` is empty and \`meta.total\` still true. What arrives meanwhile moves older rows to later pages.

### Freshness

Orders, creators and payments are told by other services: what happened there shows here within seconds.

### Errors

Every error is one flat envelope; branch on \`code\`. \`details\` name each thing that is wrong: a path in the body or a parameter's name. 429 and 503 pass: wait as long as \`Retry-After\` says and send the request
again. Other 4xx stay until the request is mended. A path or method that does not exist is 404.

### Rate limits

Each client has its quotas for each creator, as token buckets: \`RateLimit-Policy\` tells the quota a request counted against, \`RateLimit\` what is left. Requests without a good token share a quota per address.

### Browsers

${browsers}
`.trim();
