// Paragraphs that apply to both APIs.

export const requests = `
Bodies are JSON (\`Content-Type: application/json\`), with at most 5000 members and at most 32 levels of nesting. Each operation states the maximum size of its body (413). Undocumented members are ignored. \`null\` for an optional
member is the same as leaving it out. A query parameter may occur only once.
`.trim();

export const responses = `
Responses are JSON in UTF-8. Members may be added at any time, so ignore members that you do not know. No member is removed or changes its meaning without 12 months of notice (\`Deprecation\` of RFC 9745, \`Sunset\` of RFC 8594).
Every response carries \`X-Request-Id\`. Quote it when you contact support about a request.
`.trim();

export const browsers =
  'Pages of any origin may call the API (CORS), but without credentials such as cookies.';

export const rateLimits = `
Each client has its own quotas for each creator, counted as token buckets. \`RateLimit-Policy\` names the quota that the request counted against, \`RateLimit\` the requests that remain. Requests without a valid token share a quota per
network: an IPv4 address, or the /64 of an IPv6 address, whose /56 has four times the quota.
`.trim();
