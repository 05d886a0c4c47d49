import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TraceEvent } from '../../../src/api/trace.ts';
import { completionGate } from '../../../src/attempt/completion-gate.ts';

const user = (text = 'Do it.'): TraceEvent => ({ seq: 0, type: 'user_message', text });
const says = (text: string): TraceEvent => ({ seq: 0, type: 'assistant_message', text });
const call = (tool = 'write', call_id = 'c1'): TraceEvent => ({
  seq: 0,
  type: 'tool_call',
  tool,
  args: {},
  call_id,
});
const answer = (tool = 'write', call_id = 'c1'): TraceEvent => ({
  seq: 0,
  type: 'tool_result',
  tool,
  result: 'ok',
  call_id,
});

const gate = (stopReason: string | null, ...events: TraceEvent[]) =>
  completionGate({ stopReason, events, placeholder: false });
const worked = [user(), call(), answer()];

describe('the completion gate', () => {
  it.each(['stop', 'end_turn', 'stop_sequence', 'endTurn'])('takes stop reason %s for complete', (word) => {
    expect(gate(word, ...worked, says('The answer is 4.'))).toMatchObject({
      completed: true,
      signal: 'stop_reason',
      conflict: false,
      stopReason: word,
    });
  });

  it.each(['toolUse', 'tool_use', 'tool_calls', 'length', 'max_tokens', 'error', 'aborted'])(
    'takes stop reason %s for incomplete, whatever the text says',
    (word) => {
      expect(gate(word, ...worked, says('I have finished the request.'))).toMatchObject({
        completed: false,
        signal: 'stop_reason',
        conflict: false,
      });
    },
  );

  it('asks the runtime first what its own words mean', () => {
    const events = [user(), says('x')];
    const session = { stopReason: 'max_iterations', events, placeholder: false };
    expect(completionGate(session)).toMatchObject({ completed: false, signal: 'none' });
    expect(completionGate(session, () => false)).toMatchObject({ completed: false, signal: 'stop_reason' });
    expect(completionGate({ ...session, stopReason: 'completed' }, () => true)).toMatchObject({
      completed: true,
      signal: 'stop_reason',
    });
    expect(completionGate({ ...session, stopReason: 'stop' }, () => null).completed).toBe(true);
  });

  it('lets a completing stop reason stand where a tool call is pending, and records the conflict', () => {
    expect(gate('stop', user(), says('I will write.'), call())).toMatchObject({
      completed: true,
      signal: 'stop_reason',
      conflict: true,
    });
    expect(gate('toolUse', user(), call())).toMatchObject({ completed: false, conflict: false });
  });

  it('is incomplete when the last assistant message calls a tool', () => {
    const pending = { completed: false, signal: 'pending_tool_call' };
    expect(gate(null, user(), says('I have finished the request.'), call())).toMatchObject(pending);
    expect(gate(null, ...worked, says('More.'), call('read', 'c2'), answer('read', 'c2'))).toMatchObject(
      pending,
    );
    // Call and text of one message, the call first.
    expect(gate(null, ...worked, call('read', 'c2'), says('I have finished the request.'))).toMatchObject(
      pending,
    );
  });

  it('holds no call for pending in a trace that never records results', () => {
    expect(gate(null, user(), call(), says('I have finished the request.'))).toMatchObject({
      completed: true,
      signal: 'text_marker',
    });
  });

  it('is incomplete without a transcript, with a placeholder, or with a message that was not answered', () => {
    const none = { completed: false, signal: 'none' };
    expect(gate('stop')).toMatchObject(none);
    expect(
      completionGate({ stopReason: 'stop', events: [user(), says('[unavailable]')], placeholder: true }),
    ).toMatchObject(none);
    // The stop reason is of the answer before.
    expect(gate('stop', user(), says('Done.'), user('Go on.'))).toMatchObject(none);
  });

  it.each([
    'I have finished the request.',
    'I have finished the request',
    "I've finished the task.",
    'I\u2019ve now successfully completed all the tasks!',
    'I have completed your request and saved the summary to results/summary.md.',
    'We have completed the work.',
    'I am done.',
    "I'm finished with the task.",
    'The task is complete.',
    'The requested task has been completed.',
    'All tasks are done.',
    'All of the steps have been completed successfully.',
    'Everything is done.',
    'Task completed successfully.',
    'Task complete',
    '**Done.**',
    '\u2705 Done!',
    'All done.',
    'I have completed everything you asked for.',
    'I completed the task as requested.',
    'The file is in place.\n\nI have finished the request.',
    'I have finished the request. Let me know if you want another format.',
  ])('takes "%s" for finished', (text) => {
    expect(gate(null, ...worked, says(text))).toMatchObject({ completed: true, signal: 'text_marker' });
  });

  it.each([
    'not done yet',
    'Not done yet.',
    'I have not finished the request.',
    "I haven't finished the request.",
    'I have almost finished the request.',
    'Once I have finished the request, I will tell you.',
    'I will say "I have finished the request" when it is so.',
    'Have I finished the request?',
    'I have finished the request?',
    'I have finished the first part of the request.',
    'I have completed half the task.',
    'I have completed the next step of the task.',
    'I have finished the request, but one file is missing.',
    'I have finished the request. The second file is not done yet.',
    'I have finished the request. I still need to write the summary.',
    'I am done with the first file.',
    'The task is not complete.',
    'The task is to be done.',
    'This is done by the cron job.',
    'I have finished this part.',
    'I have finished the task list.',
    'I completed the work order form.',
    'I have done it wrong.',
    'The request was refused.',
    'I am done for today, except the summary.',
    '```\nI have finished the request.\n```',
    '> I have finished the request.',
    'Undone.',
    '',
  ])('does not take "%s" for finished', (text) => {
    expect(gate(null, ...worked, says(text))).toMatchObject({ completed: false, signal: 'none' });
  });

  it('looks at the last assistant message only', () => {
    expect(gate(null, user(), says('I have finished the request.'), says('Wait.')).completed).toBe(false);
  });

  it('lets a known stop reason decide alone', () => {
    const event = fc.oneof(
      fc.string().map(says),
      fc.constant(call()),
      fc.constant(answer()),
      fc.string().map(user),
    );
    fc.assert(
      fc.property(fc.array(event), fc.string(), (events, last) => {
        const all = [...events, says(last)];
        expect(gate('end_turn', ...all).completed).toBe(true);
        expect(gate('max_tokens', ...all)).toMatchObject({ completed: false, conflict: false });
        const open = gate(null, ...all);
        expect(open.completed).toBe(open.signal === 'text_marker');
      }),
    );
  });

  it('ends quickly on long texts', () => {
    const text = `I have ${'now '.repeat(50_000)}finished ${'the '.repeat(50_000)}`;
    const before = performance.now();
    gate(null, ...worked, says(text));
    expect(performance.now() - before).toBeLessThan(2000);
  });
});
