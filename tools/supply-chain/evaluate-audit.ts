import { z } from 'zod';

const failing = new Set(['high', 'critical']);
const report = z.object({
  vulnerabilities: z
    .record(z.string(), z.object({ name: z.string(), severity: z.string(), range: z.string() }))
    .optional(),
  error: z.object({ code: z.string().optional(), summary: z.string().optional() }).optional(),
  message: z.string().optional(),
});

export interface AuditResult {
  readonly ok: boolean;
  readonly lines: readonly string[];
}

/** Evaluates the output of `npm audit --json`. Without the member `vulnerabilities` nothing was compared. */
export function evaluateAudit(output: string): AuditResult {
  const { vulnerabilities, error, message } = parsed(output);
  if (vulnerabilities === undefined || error !== undefined) {
    const reason = error?.summary || error?.code || message || 'no report';
    return { ok: true, lines: [`NOT CHECKED: the registry returned no advisories (${oneLine(reason)}).`] };
  }
  const serious = Object.values(vulnerabilities).filter(({ severity }) => failing.has(severity));
  if (serious.length > 0)
    return { ok: false, lines: serious.map(({ name, severity, range }) => `${severity}: ${name} ${range}`) };
  return { ok: true, lines: ['No advisories of high or critical severity for production dependencies.'] };
}

function parsed(output: string): z.output<typeof report> {
  try {
    return report.safeParse(JSON.parse(output)).data ?? {};
  } catch {
    return {};
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
