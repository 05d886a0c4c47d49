import { describe, expect, it } from 'vitest';
import { agentEnvironment } from '../../../src/attempt/environment.ts';
import { firstMessage, RUNTIME_PREFIX, RUNTIME_PREFIX_SHA256 } from '../../../src/attempt/prompt.ts';

describe('environment of an agent', () => {
  it('is made of executor, adapter and specification, the later ones winning', () => {
    expect(agentEnvironment({ PATH: 'a', HOME: 'h' }, { PATH: 'b', X: '1' }, { X: '2' })).toEqual({
      PATH: 'b',
      HOME: 'h',
      X: '2',
    });
  });

  it('keeps the mark of the attempt and withholds the provider key, whoever sets them', () => {
    const own = { CLAWBENCH_ATTEMPT: 'forged', CLAWBENCH_API_KEY: 'secret' };
    expect(agentEnvironment({ CLAWBENCH_ATTEMPT: 'mark' }, own, own)).toEqual({ CLAWBENCH_ATTEMPT: 'mark' });
    expect(agentEnvironment({}, own, own)).toEqual({});
  });
});

describe('first message', () => {
  it('is the prompt of a scenario byte for byte', () => {
    const prompt = '\uFEFF \r\n\tÄ\u0000 no final line break';
    expect(firstMessage('scenario', prompt)).toBe(prompt);
  });

  it('is the prompt of a task with the shared prefix behind it', () => {
    expect(firstMessage('task', 'Find it.\n')).toBe(`Find it.\n\n${RUNTIME_PREFIX}`);
    expect(RUNTIME_PREFIX_SHA256).toMatch(/^[0-9a-f]{64}$/);
    for (const words of ['/tmp_workspace/results/', 'no further tool call', 'web_fetch', 'primary content']) {
      expect(RUNTIME_PREFIX).toContain(words);
    }
  });
});
