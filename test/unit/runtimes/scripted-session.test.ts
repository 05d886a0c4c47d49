import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usageSchema } from '../../../src/api/attempt.ts';
import { traceEventSchema } from '../../../src/api/trace.ts';
import { PLACEHOLDER } from '../../../src/runtimes/scripted/plan.ts';
import { parseRecords, readingOf, SESSION_BOUNDS } from '../../../src/runtimes/scripted/session.ts';

const TIME = '2026-01-02T03:04:05.678Z';

function lines(...records: unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

function read(text: string | Uint8Array) {
  return readingOf(parseRecords(Buffer.from(text)), []);
}

const USER = { type: 'user', text: 'Do it.', turn: 1, time: TIME };
const ANSWER = { type: 'assistant', text: 'Did it.', turn: 1, time: TIME };
const STOP = { type: 'stop', stopReason: 'stop', turn: 1, time: TIME };
const refused = (final: boolean, turn = 1) => ({
  type: 'provider_error',
  error: 'rate_limit',
  status: 429,
  final,
  message: 'too many requests',
  turn,
});

describe('reading a session of the scripted agent', () => {
  it('keeps the order, counts from 1 and names tools in the words of the project', () => {
    const call = {
      type: 'tool_call',
      id: 'c1',
      name: 'bash',
      arguments: { command: 'ls' },
      turn: 1,
      time: TIME,
    };
    const result = { type: 'tool_result', id: 'c1', name: 'bash', status: 'ok', result: 'a\n', turn: 1 };
    const odd = { ...call, id: 'c2', name: 'toString' };
    const { events, usage } = read(lines(USER, call, result, odd, ANSWER, STOP));
    expect(events).toEqual([
      { seq: 1, turn: 1, time: TIME, type: 'user_message', text: 'Do it.' },
      {
        seq: 2,
        turn: 1,
        time: TIME,
        type: 'tool_call',
        tool: 'exec',
        nativeName: 'bash',
        surface: null,
        args: { command: 'ls' },
        call_id: 'c1',
      },
      {
        seq: 3,
        turn: 1,
        type: 'tool_result',
        tool: 'exec',
        nativeName: 'bash',
        result: 'a\n',
        status: 'ok',
        call_id: 'c1',
      },
      {
        seq: 4,
        turn: 1,
        time: TIME,
        type: 'tool_call',
        tool: 'toString',
        nativeName: 'toString',
        surface: null,
        args: { command: 'ls' },
        call_id: 'c2',
        unmapped: true,
      },
      { seq: 5, turn: 1, time: TIME, type: 'assistant_message', text: 'Did it.' },
    ]);
    for (const event of events) expect(traceEventSchema.parse(event)).toEqual(event);
    expect(usageSchema.parse(usage)).toMatchObject({ toolCalls: 2, assistantTurns: 3, source: 'none' });
  });

  it('takes the stop reason of the last turn only', () => {
    expect(read(lines(USER, ANSWER, STOP)).stopReason).toBe('stop');
    expect(read(lines(USER, ANSWER, STOP, { ...USER, turn: 2 })).stopReason).toBeNull();
    expect(read(lines(USER, STOP, { ...STOP, turn: 2, stopReason: 'error' })).stopReason).toBe('error');
  });

  it.each([
    ['nothing', [], true],
    ['a user message alone', [USER], true],
    ['the placeholder', [USER, { ...ANSWER, text: PLACEHOLDER }], true],
    ['blank text', [USER, { ...ANSWER, text: ' \n' }], true],
    ['an answer', [USER, ANSWER], false],
    ['an answer after the placeholder', [{ ...ANSWER, text: PLACEHOLDER }, ANSWER], false],
  ])('takes %s for a placeholder: %s', (_, records, placeholder) => {
    expect(read(lines(...records)).placeholder).toBe(placeholder);
  });

  it('holds a provider error for final only where the session ended with it', () => {
    const finals = (...records: unknown[]) =>
      read(lines(...records)).observations.map((o) => o.kind === 'provider_error' && o.final);
    expect(finals(USER, refused(false), refused(true), { ...STOP, stopReason: 'error' })).toEqual([
      false,
      true,
    ]);
    expect(finals(USER, refused(false), ANSWER, STOP)).toEqual([false]);
    // An agent that goes on and ends in order was not ended by it, whatever it wrote.
    expect(finals(USER, refused(true), ANSWER, STOP)).toEqual([false]);
    expect(finals(USER, refused(true), { ...USER, turn: 2 }, { ...ANSWER, turn: 2 })).toEqual([false]);
  });

  it('passes over a line that was cut off, also in the middle of a character', () => {
    const whole = Buffer.from(lines(USER, { ...ANSWER, text: 'Fertig: ü' }));
    const { length } = read(whole).events;
    for (let end = 0; end < whole.length; end += 1) {
      const { events } = read(whole.subarray(0, end));
      expect(events.length).toBeLessThan(length);
    }
  });

  it('passes over lines that are no records and keeps those around them', () => {
    const rubbish = [
      'null',
      '[]',
      '{"type":"assistant"}',
      '{"type":"assistant","text":7,"turn":1}',
      '{"type":"assistant","text":"x","turn":0}',
      '{"type":"assistant","text":"x","turn":1e99}',
      '{"type":"note","text":"x","turn":1}',
      '{"type":"__proto__"}',
      '\u0000\u0000',
      '{"type":"tool_call","id":"c","name":"bash","turn":1,"arguments":' +
        '['.repeat(5000) +
        ']'.repeat(5000) +
        '}',
    ];
    const { events } = read(`${lines(USER)}${rubbish.join('\n')}\n${lines(ANSWER)}`);
    expect(events.map((event) => event.type)).toEqual(['user_message', 'assistant_message']);
  });

  it('passes over a line that is too long', () => {
    const long = lines({ ...ANSWER, text: 'x'.repeat(SESSION_BOUNDS.lineBytes) });
    expect(read(long + lines(ANSWER)).events).toHaveLength(1);
  });

  it('survives any bytes', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array(),
            fc.json().map((json) => Buffer.from(json)),
            fc.constant(Buffer.from('\n')),
          ),
        ),
        (parts) => {
          const { events, placeholder } = read(Buffer.concat(parts));
          expect(events).toEqual([]);
          expect(placeholder).toBe(true);
        },
      ),
    );
  });

  it('can always be written down again', () => {
    const record = fc.record({
      type: fc.constantFrom('tool_call', 'tool_result', 'user', 'assistant', 'stop', 'provider_error'),
      id: fc.string(),
      name: fc.string(),
      text: fc.string(),
      status: fc.constantFrom('ok', 'error', 429),
      stopReason: fc.string(),
      arguments: fc.jsonValue(),
      result: fc.jsonValue(),
      turn: fc.integer({ min: -1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(record), (records) => {
        const { events } = read(lines(...records));
        expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
        for (const event of events) expect(traceEventSchema.safeParse(event).success).toBe(true);
        expect(() => JSON.stringify(events)).not.toThrow();
      }),
    );
  });
});
