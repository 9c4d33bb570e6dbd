import { answers, browsers, requests } from './shared-description.ts';

/** What holds for every operation of the Store API. Told once, in the words of the reference. */
export const storeDescription = `
Everything a creator's integration needs: read the catalogue, quote shipping, place and follow orders, and be told what happens.

### Requests

${requests} Checks come in this order: 401, 429, 403, 400, 404, 409, 422; a reused \`idempotency-key\` is 409 before anything is looked for.

### Answers

${answers}

### Identifiers, money and time

- Identifiers are opaque: a prefix, and no more to be read from them.
- Money is an integer in minor units with its currency: 1099 GBP is £10.99, 1099 JPY is ¥1099. At most 9007199254740991. Nothing is ever converted.
- Times are RFC 3339 in UTC, dates are \`YYYY-MM-DD\`.

### Lists

Lists are read page by page: send \`next_cursor\` as \`cursor\` until \`has_more\` is false. Rows that arrive meanwhile move nothing; each row comes once. A cursor is good for the list and filters it came from; another
\`limit\`, \`currency\` or \`format\` is fine.

### Errors

Every error is one flat envelope; branch on \`code\`. \`details\` name each thing that is wrong: a path in the body, a parameter's name, or a header's name in lower case. What belongs to another creator does not exist: 404, or
\`unknown_sku\` in 422. 429 and 503 pass: wait as long as \`Retry-After\` says and retry, an order only with its \`idempotency-key\`. Other 4xx stay until the request is fixed. A path or method that does not exist is 404.

### Rate limits

Each client has its quotas for each creator, as token buckets: \`RateLimit-Policy\` tells the quota a request counted against, \`RateLimit\` what is left. Requests without a good token share a quota per address.

### Browsers

${browsers}
`.trim();
