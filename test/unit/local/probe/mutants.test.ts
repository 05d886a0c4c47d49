import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../../../src/api/scenario.ts';
import { mutate, type Mutant } from '../../../../src/local/probe/mutants.ts';

const solve: readonly ScriptStep[] = [
  { read: { path: 'in.txt' } },
  { write: { path: 'out.txt', content: 'a 1\nb 2\n' } },
  { shell: 'sort out.txt' },
  { message: 'Done: 2 lines.' },
];

function mutant(part: Partial<Mutant>): Mutant {
  return { name: 'm', fails: 'm', edits: [], add: [], ...part };
}

describe('a mutant of the standard answer', () => {
  it('replaces a text wherever it stands: in content, command or message', () => {
    const edits = [
      { old: 'b 2', new: 'b 3' },
      { old: 'sort', new: 'sort -r' },
      { old: 'Done', new: 'Gone' },
    ];
    expect(mutate(solve, mutant({ edits }))).toEqual([
      { read: { path: 'in.txt' } },
      { write: { path: 'out.txt', content: 'a 1\nb 3\n' } },
      { shell: 'sort -r out.txt' },
      { message: 'Gone: 2 lines.' },
    ]);
  });

  it('does added steps after the work and before the last message', () => {
    const steps = mutate(solve, mutant({ add: [{ shell: 'rm in.txt' }] }));
    expect(steps.at(-2)).toEqual({ shell: 'rm in.txt' });
    expect(steps.at(-1)).toEqual({ message: 'Done: 2 lines.' });
  });

  it.each([
    ['nowhere', 'zzz', 0],
    ['in several places', 'out.txt', 2],
  ])('is refused when its text stands %s', (_where, old, times) => {
    expect(() => mutate(solve, mutant({ edits: [{ old, new: '' }] }))).toThrow(`stands ${times} times`);
  });

  it('leaves the standard answer as it was', () => {
    const before = structuredClone(solve);
    mutate(solve, mutant({ edits: [{ old: 'a 1', new: 'a 9' }], add: [{ message: 'x' }] }));
    expect(solve).toEqual(before);
  });
});
