/** What a cell may hold; null and undefined are an empty cell, a list is joined by `;`. */
export type CsvValue = string | number | boolean | null | undefined | readonly string[];

/** Spreadsheets take a cell that begins so for a formula and run it. */
const FORMULA_START = /^[=+\-@\t\r]/;

/**
 * One cell by RFC 4180: quoted where it holds a comma, a quote or a line break, quotes doubled. Text that a
 * spreadsheet would run as a formula gets a leading apostrophe; numbers never do.
 */
export function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : value.join(';');
  const safe = FORMULA_START.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One record with its CRLF. */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}
