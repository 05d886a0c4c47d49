import { describe, expect, it } from 'vitest';
import { classifyAttempt } from '../../../src/attempt/failure-class.ts';
import type { AttemptSignals } from '../../../src/attempt/failure-class.ts';

const orderly: NonNullable<AttemptSignals['result']> = {
  observations: [{ kind: 'agent_exit', code: 0, signal: null }],
  killReason: null,
  exitCode: 0,
  signal: null,
  oomKills: 0,
  turns: 1,
  completion: { completed: true, signal: 'stop_reason', reason: '', conflict: false, stopReason: 'stop' },
  collected: true,
};

describe('classifyAttempt', () => {
  it('holds an agent that ended in order for no failure', () => {
    expect(classifyAttempt({ result: orderly })).toEqual({
      class: null,
      reason: null,
      retry: null,
      counted: true,
      execution: 'success',
    });
  });
});
