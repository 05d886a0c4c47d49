import { describe, expect, it } from 'vitest';
import { transcriptExcerpt, type TranscriptLimits } from '../../../src/report/transcript-excerpt.ts';

const LIMITS: TranscriptLimits = { bytes: 100_000, events: 100, eventText: 1000 };
const HEAD = { schema_version: 1, trial: 't', attempt: 1, sessionId: 's', adapterVersion: '1' };

function bytes(...lines: readonly unknown[]) {
  const head = Buffer.from(
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  );
  return { size: head.length, head, tail: null };
}

const say = (seq: number) => ({ seq, type: 'assistant_message', text: `word ${seq}` });

describe('the excerpt of a transcript', () => {
  it('shows calls and results with tool, native name, arguments and status', () => {
    const { lines } = transcriptExcerpt(
      bytes(
        HEAD,
        { seq: 1, turn: 1, type: 'user_message', text: 'go' },
        { seq: 2, turn: 1, type: 'tool_call', tool: 'read', nativeName: 'fs_read', args: { path: 'a' } },
        { seq: 3, turn: 1, type: 'tool_result', tool: 'read', result: 'text', status: 404 },
      ),
      LIMITS,
    );
    expect(lines).toEqual([
      { turn: 1, kind: 'user', tool: '', status: '', text: 'go' },
      { turn: 1, kind: 'call', tool: 'read (fs_read)', status: '', text: '{\n  "path": "a"\n}' },
      { turn: 1, kind: 'result', tool: 'read', status: '404', text: 'text' },
    ]);
  });

  it('counts lines that are no event and goes on', () => {
    const excerpt = transcriptExcerpt(bytes(HEAD, 'no json', { type: 'other' }, say(1)), LIMITS);
    expect(excerpt.unreadable).toBe(2);
    expect(excerpt.lines).toHaveLength(1);
  });

  it('keeps the first and the last events and says how many are missing between', () => {
    const events = Array.from({ length: 50 }, (_, i) => say(i + 1));
    const excerpt = transcriptExcerpt(bytes(HEAD, ...events), { ...LIMITS, events: 10 });
    expect(excerpt.lines.map((line) => line.text)).toEqual(
      [1, 2, 3, 4, 5, 46, 47, 48, 49, 50].map((n) => `word ${n}`),
    );
    expect(excerpt).toMatchObject({ leftOut: 40, gapAt: 5 });
  });

  it('shows only whole lines of the two ends of a long file', () => {
    const excerpt = transcriptExcerpt(
      {
        size: 1_000_000,
        head: Buffer.from(`${JSON.stringify(say(1))}\n{"seq": 2, "ty`),
        tail: Buffer.from(`age", "text": "cut"}\n${JSON.stringify(say(9))}\n`),
      },
      LIMITS,
    );
    expect(excerpt.lines.map((line) => line.text)).toEqual(['word 1', 'word 9']);
    expect(excerpt).toMatchObject({ leftOut: null, gapAt: 1, unreadable: 0 });
  });

  it('makes visible what an agent wrote', () => {
    const { lines } = transcriptExcerpt(
      bytes({ seq: 1, type: 'assistant_message', text: '\u001b[31m\u202e' }),
      LIMITS,
    );
    expect(lines[0]?.text).toBe('\\u{1b}[31m\\u{202e}');
  });
});
