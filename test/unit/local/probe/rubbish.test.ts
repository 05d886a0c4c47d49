import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../../../src/api/scenario.ts';
import { RUBBISH, rubbishAnswer } from '../../../../src/local/probe/rubbish.ts';

const solve: readonly ScriptStep[] = [
  { shell: 'cat in.txt' },
  { write: { path: 'out.txt', content: '42\n' } },
  { edit: { path: 'run.sh', old: 'a', new: 'b' } },
  { shell: 'sh run.sh' },
  { message: 'The answer is 42.' },
];

describe('the right tools with rubbish', () => {
  it('are the same tools in the same order', () => {
    const kinds = (steps: readonly ScriptStep[]) => steps.map((step) => Object.keys(step)[0]);
    expect(kinds(rubbishAnswer(solve, ['x']))).toEqual(kinds(solve));
  });

  it('write nothing of the answer', () => {
    const text = JSON.stringify(rubbishAnswer(solve, []));
    for (const secret of ['42', 'sh run.sh', 'cat in.txt']) expect(text).not.toContain(secret);
  });

  it('leave rubbish in the last command where the real commands left their output', () => {
    const steps = rubbishAnswer(solve, ["out/it's.csv"]);
    expect(steps[0]).toEqual({ shell: ':' });
    expect(steps[3]).toEqual({
      shell: `:\nmkdir -p -- 'out'\nprintf %s '${RUBBISH}' >'out/it'\\''s.csv'`,
    });
  });
});
