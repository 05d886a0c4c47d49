import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, unifiedDiff } from '../../../src/report/line-diff.ts';

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 30 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''));

describe('the difference of two files', () => {
  it('shows a changed line between its neighbours', () => {
    expect(unifiedDiff('one\ntwo\nthree\n', 'one\n2\nthree\n')).toEqual([
      '@@ -1 +1 @@',
      ' one',
      '-two',
      '+2',
      ' three',
    ]);
  });

  it('leaves far away lines out and says where each part begins', () => {
    const before = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join('\n');
    const after = before.replace('line 5\n', '').replace('line 30', 'line thirty');
    const diff = unifiedDiff(before, after);
    expect(diff.filter((line) => line.startsWith('@@'))).toEqual(['@@ -2 +2 @@', '@@ -27 +26 @@']);
    expect(diff).not.toContain(' line 15');
  });

  it('is empty for equal texts', () => {
    expect(unifiedDiff('a\nb\n', 'a\nb\n')).toEqual([]);
  });

  it('turns one text into the other, whatever they are', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        const side = (left: 'removed' | 'added') =>
          lines
            .filter((line) => line.kind === 'same' || line.kind === left)
            .map((line) => `${line.text}\n`)
            .join('');
        expect(side('removed')).toBe(before);
        expect(side('added')).toBe(after);
      }),
    );
  });

  it('finds the shortest script', () => {
    const edits = diffLines('a\nb\nc\na\nb\nb\na\n', 'c\nb\na\nb\na\nc\n').filter(
      (line) => line.kind !== 'same',
    );
    expect(edits).toHaveLength(5);
  });

  it('shows texts that have nothing in common as removed and added whole, in bounded time', () => {
    const lines = (word: string) => Array.from({ length: 2000 }, (_, i) => `${word} ${i}\n`).join('');
    const diff = diffLines(lines('old'), lines('new'));
    expect(diff.filter((line) => line.kind === 'removed')).toHaveLength(2000);
    expect(diff.filter((line) => line.kind === 'added')).toHaveLength(2000);
  });
});
