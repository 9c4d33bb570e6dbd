import { browsers, rateLimits, requests, responses } from './shared-description.ts';

/** The rules that apply to every operation of the Creator API. */
export const creatorDescription = `
The API for dashboards that manage creators: read orders with VAT and royalties, read monthly sales and royalties, and create releases.

### Visibility

This API accepts first-party tokens, whose audience includes it. It requires no scope, so no operation returns 403. The claims \`org_id\` and \`org_role\` of the token decide which creators are visible: an owner, admin or member
sees the creators of their organisation; a global admin sees all creators. Any other caller without an organisation sees none. A resource that you may not see is 404, the same as one that does not exist.

### Requests

${requests} Checks run in this order: 401, 429, 400, 404, 409. The host in the URL of a track is resolved last (400 or 429).

### Responses

${responses}

### Identifiers, money and time

- Identifiers are UUIDs, in lower or upper case. Any other text is 400.
- Money is an integer in minor units of its \`currency\`: 1099 GBP is £10.99, 1099 JPY is ¥1099. Amounts of one order are at most 9007199254740991. Monthly sums are exact and may exceed that number: read them with a JSON parser
  that supports large integers.
- Times are RFC 3339 in UTC, dates are \`YYYY-MM-DD\`, months are \`YYYY-MM\`. Days and months are in UTC.

### Lists

Lists have numbered pages, newest first: \`page\` from 1 to 10000, \`per_page\` from 1 to 100. Past the last page \`data\` is empty, and \`meta.total\` is still correct. Rows that are created while you page shift older rows to later
pages.

### Freshness

Orders, creators and payments come from other services. Changes there are visible here within seconds.

### Errors

Every error is one flat envelope; branch on \`code\`. Each element of \`details\` names one problem: a path in the body, the name of a parameter, or the name of a header in lower case. 429 and 503 are transient: wait for the seconds in
\`Retry-After\`, then send the request again; repeat the creation of a release only with its \`idempotency-key\`. Other 4xx responses do not change until the request is fixed. An unknown path or method is 404.

### Rate limits

${rateLimits}

### Browsers

${browsers}
`.trim();
