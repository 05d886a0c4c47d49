import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyProviderAnswer, errorWordsOf } from '../../../src/gateway/classification.ts';
import { formatAt, formatOf, WIRE_FORMATS } from '../../../src/gateway/wire/formats.ts';
import type { PlainAnswer, WireFormat } from '../../../src/gateway/wire/wire-format.ts';

const USAGE = { input: 12, output: 7, cacheRead: 3, cacheWrite: 0 };
const ANSWER: PlainAnswer = {
  id: 'x1',
  model: 'm',
  text: 'An answer — with ünïcode.',
  usage: USAGE,
  created: 1,
};

function rendered(wire: WireFormat, more: Record<string, unknown>): { bytes: Buffer; contentType: string } {
  const parsed = wire.parse({ ...wire.probe('m'), ...more });
  if (!parsed.ok) throw new Error(parsed.problem);
  const { pieces, contentType } = wire.render(ANSWER, parsed.request);
  return { bytes: Buffer.from(pieces.join('')), contentType };
}

describe.each(WIRE_FORMATS.map((wire) => [wire.api, wire] as const))('%s', (_, wire) => {
  it('is found by its path', () => {
    expect(formatAt(wire.path)).toBe(wire);
    expect(formatOf(wire.api)).toBe(wire);
  });

  it('counts the tokens of a whole answer', () => {
    const { bytes, contentType } = rendered(wire, {});
    expect(contentType).toBe('application/json');
    const meter = wire.meter(false);
    meter.push(bytes);
    expect(meter.end().usage).toEqual(USAGE);
    expect(bytes.toString()).toContain(JSON.stringify(ANSWER.text).slice(1, -1));
  });

  it('counts the tokens of a stream, wherever it is cut into pieces', () => {
    const { bytes, contentType } = rendered(wire, { stream: true });
    expect(contentType).toContain('text/event-stream');
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 8 }), (cuts) => {
        const meter = wire.meter(true);
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        for (let i = 1; i < places.length; i += 1) meter.push(bytes.subarray(places[i - 1], places[i]));
        expect(meter.end().usage).toEqual(USAGE);
      }),
    );
  });

  it('makes up no tokens for an answer that tells none or is no answer', () => {
    for (const text of [
      '',
      'null',
      '{}',
      '{"usage":{}}',
      '{"usage":{"input_tokens":-1}}',
      '<html>',
      'data: {}\n\n',
    ]) {
      for (const stream of [true, false]) {
        const meter = wire.meter(stream);
        meter.push(Buffer.from(text));
        expect(meter.end().usage).toBeNull();
      }
    }
  });

  it.each([[null], [[]], [{}], [{ model: 'm' }], [{ model: '', messages: [1], input: 'x' }]])(
    'takes %j for no request',
    (body) => {
      expect(wire.parse(body).ok).toBe(false);
    },
  );

  it('says errors so that they are read again', () => {
    const body: unknown = JSON.parse(wire.renderError({ status: 429, code: 'too_many', message: 'wait' }));
    expect(errorWordsOf(body)).toMatchObject({ type: 'too_many', message: 'wait' });
  });
});

it('keeps the usage of a chat stream apart for who asked for it', () => {
  const wire = formatOf('openai-completions');
  const events = (more: object) =>
    rendered(wire, { stream: true, ...more })
      .bytes.toString()
      .split('\n\n')
      .filter((event) => event.includes('"usage"'))
      .map((event) => (JSON.parse(event.slice('data: '.length)) as { choices: unknown[] }).choices.length);
  expect(events({ stream_options: { include_usage: true } })).toEqual([0]);
  expect(events({})).toEqual([1]);
});

describe('what kind of error a provider answered with', () => {
  it.each([
    [200, {}, null],
    [400, {}, null],
    [422, {}, null],
    [400, { code: 'context_length_exceeded' }, 'context_length'],
    [400, { message: 'prompt is too long: 300000 tokens > 200000 maximum' }, 'context_length'],
    [413, {}, 'context_length'],
    [400, { code: 'content_filter' }, 'content_filter'],
    [401, {}, 'authentication'],
    [403, {}, 'authentication'],
    [402, {}, 'quota'],
    [404, {}, 'not_found'],
    [429, {}, 'rate_limit'],
    [429, { code: 'insufficient_quota' }, 'quota'],
    [500, {}, 'server_error'],
    [502, {}, 'server_error'],
    [503, {}, 'overloaded'],
    [529, { type: 'overloaded_error' }, 'overloaded'],
  ] as const)('%d %j: %s', (status, words, kind) => {
    expect(classifyProviderAnswer(status, errorWordsOf({ error: words }))).toBe(kind);
  });

  it('reads words from any body', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(typeof errorWordsOf(body).message).toBe('string');
      }),
    );
  });
});
