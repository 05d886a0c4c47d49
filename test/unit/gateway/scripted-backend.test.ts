import { describe, expect, it } from 'vitest';
import { modelSpecSchema } from '../../../src/api/benchmark-run.ts';
import type { CallOrigin } from '../../../src/gateway/backend.ts';
import {
  scriptedModelProblems,
  scriptedModelSchema,
} from '../../../src/gateway/backends/scripted-parameters.ts';
import { isRefused, scriptedBackend } from '../../../src/gateway/backends/scripted.ts';
import { modelProblems } from '../../../src/gateway/server.ts';
import { formatOf } from '../../../src/gateway/wire/formats.ts';
import { HeldTime } from './held-time.ts';

const respond = (fields: object) =>
  scriptedModelSchema.parse({ respond: { status: 429, ...fields } }).respond!;
const call = (attempt: number, ordinal: number, runOrdinal = ordinal) => ({
  origin: { kind: 'attempt', trial: 't', attempt, role: 'agent', ordinal } satisfies CallOrigin,
  runOrdinal,
});
const preflight = (runOrdinal: number) => ({ origin: { kind: 'preflight' } as const, runOrdinal });

describe('which calls the scripted model refuses', () => {
  it.each([
    ['every call where nothing limits it', {}, call(5, 9), true],
    ['the preflight, too', {}, preflight(1), true],
    ['the first calls of an attempt', { times: 2 }, call(1, 2, 40), true],
    ['no later ones', { times: 2 }, call(1, 3, 3), false],
    ['not the preflight, where attempts are meant', { times: 2 }, preflight(1), false],
    ['the first calls of the run', { times: 2, per: 'run' }, call(3, 1, 2), true],
    ['no later ones of the run', { times: 2, per: 'run' }, call(3, 1, 3), false],
    ['the preflight as the first call of the run', { times: 1, per: 'run' }, preflight(1), true],
    ['calls of the first attempts', { attempts: 2 }, call(2, 7), true],
    ['none of the later attempts', { attempts: 2 }, call(3, 1), false],
    ['not the preflight, where attempts are named', { attempts: 2 }, preflight(1), false],
    ['the first calls of the first attempts', { attempts: 1, times: 1 }, call(1, 2), false],
  ] as const)('%s', (_, fields, which, refused) => {
    expect(isRefused(respond(fields), which)).toBe(refused);
  });
});

describe('the scripted model', () => {
  const wire = formatOf('openai-completions');
  const send = async (parameters: object, time: HeldTime, signal = new AbortController().signal) => {
    const parsed = wire.parse(wire.probe('m'));
    if (!parsed.ok) throw new Error(parsed.problem);
    const backend = scriptedBackend('m', scriptedModelSchema.parse(parameters), time);
    return await backend.send({ wire, request: parsed.request, ...call(1, 1) }, signal);
  };
  const text = async (body: AsyncIterable<Uint8Array>) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  };

  it('answers with the text it is told, after the time it is told', async () => {
    const time = new HeldTime();
    let answered = false;
    const answer = send({ text: 'So be it.', latencyMs: 500 }, time).finally(() => (answered = true));
    await time.pass(499);
    expect(answered).toBe(false);
    await time.pass(1);
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(JSON.parse(await text(body))).toMatchObject({
      choices: [{ message: { content: 'So be it.' }, finish_reason: 'stop' }],
      usage: { completion_tokens: 3 },
    });
  });

  it('refuses with status, Retry-After and the words of the format', async () => {
    const { status, retryAfter, body } = await send(
      { respond: { status: 503, retryAfterSeconds: 7 } },
      new HeldTime(),
    );
    expect({ status, retryAfter }).toEqual({ status: 503, retryAfter: '7' });
    expect(JSON.parse(await text(body))).toMatchObject({ error: { code: 'overloaded' } });
  });

  it('does not answer a caller that is gone', async () => {
    const gone = new AbortController();
    const answer = send({ latencyMs: 1000 }, new HeldTime(), gone.signal);
    gone.abort();
    await expect(answer).rejects.toThrow('the caller is gone');
  });
});

describe('what is wrong with a model', () => {
  const fields = (spec: object) =>
    modelProblems(modelSpecSchema.parse({ id: 'm', api: 'scripted', ...spec })).map(({ field }) => field);
  const scripted = (parameters: object) =>
    scriptedModelProblems(modelSpecSchema.parse({ id: 'm', api: 'scripted', parameters })).map(
      ({ field }) => field,
    );

  it('names unknown and wrong parameters', () => {
    expect(scripted({})).toEqual([]);
    expect(scripted({ scripted: { respond: { status: 429, times: 1 } } })).toEqual([]);
    expect(scripted({ temperature: 1 })).toEqual(['spec.model.parameters.temperature']);
    expect(scripted({ scripted: { respond: { status: 418 } } })).toEqual([
      'spec.model.parameters.scripted.respond.status',
    ]);
    expect(scripted({ scripted: { respond: { status: 429, per: 'run' } } })).toEqual([
      'spec.model.parameters.scripted.respond.per',
    ]);
    expect(scripted({ scripted: { latency: 1 } })).toEqual(['spec.model.parameters.scripted']);
  });

  it('names what this build cannot hold, instead of passing it over', () => {
    expect(fields({})).toEqual([]);
    expect(
      fields({
        budget: { tokens: 1000 },
        attemptLimits: { modelCalls: 3 },
        cassette: { mode: 'record', claim: 'tapes' },
      }),
    ).toEqual(['spec.model.budget', 'spec.model.attemptLimits', 'spec.model.cassette']);
    expect(fields({ api: 'openai-completions', baseURL: 'https://api.example.com/v1' })).toEqual([
      'spec.model.api',
    ]);
  });
});
