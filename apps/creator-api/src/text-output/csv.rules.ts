/** A cell that begins like this is a formula in spreadsheets (OWASP, CSV injection). */
const formula = /^[=+\-@\t\r]/;

/**
 * Returns a line of a CSV file (RFC 4180). Text that a spreadsheet would run as a formula is prefixed with an
 * apostrophe, so that the spreadsheet shows it as text.
 */
export function csvLine(cells: readonly (string | number | bigint)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: string | number | bigint): string {
  if (typeof value !== 'string') return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
