import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptedAdapter } from '../../../src/runtimes/scripted/adapter.ts';
import { eventually, scriptedBench, textOf } from './scripted-bench.ts';

const SOLVE = `
- read: {path: notes.txt}
- write: {path: out/answer.json, content: "{\\"total\\": 3}\\n"}
- edit: {path: notes.txt, old: two, new: "2"}
- shell: "cat notes.txt; echo oops >&2; exit 3"
- message: First half.
- message: The total is 3.
`;

describe('the scripted agent that solves', () => {
  it('really does each step, records calls with their results and ends in order', async () => {
    await using bench = await scriptedBench({
      scripts: { solve: SOLVE },
      workspace: { 'notes.txt': 'one\ntwo\n' },
    });
    const end = await bench.play(1, 'Add them up.\n');
    expect(end).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(JSON.parse(end.stdout)).toMatchObject({ ok: true, final: 'The total is 3.', stopReason: 'stop' });

    const { workspace } = bench.context.paths;
    expect(await readFile(join(workspace, 'out/answer.json'), 'utf8')).toBe('{"total": 3}\n');
    expect(await readFile(join(workspace, 'notes.txt'), 'utf8')).toBe('one\n2\n');

    const reading = await bench.read();
    const short = reading.events.map((event) => {
      switch (event.type) {
        case 'user_message':
        case 'assistant_message':
          return [event.type, event.text];
        case 'tool_call':
          return [event.type, event.tool, event.nativeName, event.call_id];
        case 'tool_result':
          return [event.type, event.tool, event.status, event.result];
      }
    });
    expect(short).toEqual([
      ['user_message', 'Add them up.\n'],
      ['tool_call', 'read', 'read_file', 'call_1'],
      ['tool_result', 'read', 'ok', 'one\ntwo\n'],
      ['tool_call', 'write', 'write_file', 'call_2'],
      ['tool_result', 'write', 'ok', 'wrote 13 bytes to out/answer.json'],
      ['tool_call', 'edit', 'edit_file', 'call_3'],
      ['tool_result', 'edit', 'ok', 'replaced one passage of notes.txt'],
      ['tool_call', 'exec', 'bash', 'call_4'],
      ['tool_result', 'exec', 'error', 'one\n2\noops\n[exit code 3]'],
      ['assistant_message', 'First half.'],
      ['assistant_message', 'The total is 3.'],
    ]);
    expect(reading.events.map((event) => event.seq)).toEqual(short.map((_, index) => index + 1));
    expect(reading).toMatchObject({
      sessionId: 'scripted-demo-0123456789-1',
      stopReason: 'stop',
      observations: [],
      placeholder: false,
      nativeFiles: [bench.session],
      usage: { toolCalls: 4, assistantTurns: 6, totalTokens: null, costUsd: 0, source: 'none' },
    });
    expect(scriptedAdapter.completesWith('stop')).toBe(true);
  });

  it('records a step before the next one begins, so that a watchdog sees it live', async () => {
    await using bench = await scriptedBench({
      scripts: { solve: '- write: {path: a.txt, content: a}\n- wait: 600\n- message: Done.\n' },
    });
    const { child, ended } = await bench.start(1);
    const text = await eventually(async () => {
      const session = await textOf(bench.session);
      return session?.includes('"tool_result"') === true ? session : undefined;
    });
    expect(text.endsWith('\n')).toBe(true);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM', stdout: '' });
    expect(await bench.read()).toMatchObject({ stopReason: null, placeholder: true });
  });

  it('takes up the same session in the next turn where the last one was cut off', async () => {
    await using bench = await scriptedBench({
      scripts: {
        solve: '- write: {path: a.txt, content: a}\n- wait: 1.5\n- write: {path: b.txt, content: b}\n',
      },
    });
    const { child, ended } = await bench.start(1, 'first');
    await eventually(async () =>
      (await textOf(bench.session))?.includes('"tool_result"') === true ? 1 : undefined,
    );
    child.kill('SIGKILL');
    await ended;
    const second = await bench.play(2, 'second');
    expect(JSON.parse(second.stdout)).toMatchObject({ ok: true, toolSummary: { calls: 1, failures: 0 } });
    expect(await bench.play(3, 'third')).toMatchObject({ code: 0 });
    const { events, stopReason, usage } = await bench.read();
    expect(events.flatMap((event) => (event.type === 'tool_call' ? [event.args] : []))).toEqual([
      { path: 'a.txt', content: 'a' },
      { path: 'b.txt', content: 'b' },
    ]);
    expect(events.flatMap((event) => (event.type === 'tool_result' ? [event.call_id] : []))).toEqual([
      'call_1',
      'call_2',
    ]);
    expect(events.flatMap((event) => ('text' in event ? [[event.turn, event.text]] : []))).toEqual([
      [1, 'first'],
      [2, 'second'],
      [2, 'Done.'],
      [3, 'third'],
      [3, 'There is nothing left to do.'],
    ]);
    expect(stopReason).toBe('stop');
    expect(usage.toolCalls).toBe(2);
  });
});
