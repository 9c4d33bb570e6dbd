import { z } from 'zod';

const failingSeverities = new Set(['high', 'critical']);
const report = z.object({
  vulnerabilities: z
    .record(z.string(), z.object({ name: z.string(), severity: z.string(), range: z.string() }))
    .optional(),
  error: z.object({ code: z.string().optional(), summary: z.string().optional() }).optional(),
  message: z.string().optional(),
});

/**
 * Evaluates the output of `npm audit --json`. With an error, or without the member `vulnerabilities`, nothing
 * was checked, for example because the registry was unreachable. A report in another format fails.
 * @returns `ok` is also true if nothing was checked
 */
export function evaluateAudit(output: string): { readonly ok: boolean; readonly lines: readonly string[] } {
  const { data, error: formatError } = report.safeParse(parseJson(output));
  if (data === undefined)
    return {
      ok: false,
      lines: [`The output of npm audit has an unexpected format: ${oneLine(z.prettifyError(formatError))}`],
    };
  const { vulnerabilities, error, message } = data;
  if (vulnerabilities === undefined || error !== undefined) {
    const reason = error?.summary || error?.code || message || 'no report';
    return { ok: true, lines: [`NOT CHECKED: npm audit returned no report (${oneLine(reason)}).`] };
  }
  const serious = Object.values(vulnerabilities).filter(({ severity }) => failingSeverities.has(severity));
  if (serious.length > 0)
    return { ok: false, lines: serious.map(({ name, severity, range }) => `${severity}: ${name} ${range}`) };
  return { ok: true, lines: ['No advisories of high or critical severity for production dependencies.'] };
}

/** Parses JSON. Returns an object without members for other text, such as an error message of npm. */
function parseJson(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return {};
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
