import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvCell, csvLine } from '../../../src/report/csv.ts';

describe('trials.csv', () => {
  it('quotes a cell that holds a comma, a quote or a line break, and doubles quotes', () => {
    expect(csvLine(['a', 'b,c', 'say "no"', 'two\nlines'])).toBe('a,"b,c","say ""no""","two\nlines"\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])('keeps a spreadsheet from running %j', (text) => {
    expect(csvCell(text).replace(/^"/, '').startsWith("'")).toBe(true);
  });

  it('leaves a negative number a number', () => {
    expect(csvCell(-0.5)).toBe('-0.5');
  });

  it('joins lists and leaves what is not known empty', () => {
    expect(csvLine([['a', 'b'], null, undefined, true, 0])).toBe('a;b,,,true,0\r\n');
  });

  it('gives back every text that does not begin like a formula', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^[=+\-@\t\r]/.test(text));
        const cell = csvCell(text);
        const read = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
        expect(read).toBe(text);
      }),
    );
  });
});
