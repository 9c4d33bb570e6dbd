import { browsers, rateLimits, requests, responses } from './shared-description.ts';

/** The rules that apply to every operation of the Store API. */
export const storeDescription = `
The API for a creator's integrations: read the catalogue, quote shipping, place and track orders, and receive events by webhook.

### Requests

${requests} Checks run in this order: 401, 429, 403, 400, 404, 409, 422. The exception is the 409 of a reused \`idempotency-key\`: it comes before the 404 of a resource that only the body names.

### Responses

${responses}

### Identifiers, money and time

- Identifiers are opaque strings with a prefix. Do not parse them.
- Money is an integer in minor units with its currency: 1099 GBP is £10.99, 1099 JPY is ¥1099. The maximum is 9007199254740991. Amounts are never converted between currencies.
- Times are RFC 3339 in UTC, dates are \`YYYY-MM-DD\`.

### Lists

To read a list page by page, send \`next_cursor\` as \`cursor\` until \`has_more\` is false. Every row is returned once, even if rows are created while you page. A cursor is valid only for the list and the filters that returned it;
\`limit\`, \`currency\` and \`format\` may change.

### Errors

Every error is one flat envelope; branch on \`code\`. Each element of \`details\` names one problem: a path in the body, the name of a parameter, or the name of a header in lower case. A resource of another creator is 404, or
\`unknown_sku\` in a 422. 429 and 503 are transient: wait for the seconds in \`Retry-After\`, then retry; retry an order only with its \`idempotency-key\`. Other 4xx responses do not change until the request is fixed. An unknown path or
method is 404.

### Rate limits

${rateLimits}

### Browsers

${browsers}
`.trim();
