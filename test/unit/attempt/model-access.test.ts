import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROVIDER_ERROR_KINDS, type Observation } from '../../../src/api/attempt.ts';
import type { ModelCallRecord } from '../../../src/api/model-calls.ts';
import { classifyAttempt } from '../../../src/attempt/failure-class.ts';
import { accountedUsage, confirmProviderErrors } from '../../../src/attempt/model-access.ts';
import { NO_SESSION } from '../../../src/attempt/collect.ts';
import type { EndpointCall } from '../../../src/gateway/attempt-endpoint.ts';

const endedAt = '2026-01-01T00:00:00.000Z';
const answered: EndpointCall = { endedAt, status: 200, result: 'answered' };
const refused: EndpointCall = { endedAt, status: 400, result: 'refused' };
const abandoned: EndpointCall = { endedAt, status: null, result: 'abandoned' };
const limited: EndpointCall = { endedAt, status: 429, result: 'provider_error', error: 'rate_limit' };
const down: EndpointCall = { endedAt, status: null, result: 'gateway_down', message: 'no answer' };
const claim = (
  error: (typeof PROVIDER_ERROR_KINDS)[number],
  status: number | null,
  final = true,
): Observation => ({
  kind: 'provider_error',
  error,
  status,
  final,
  message: 'says the session',
});

/** Class and reason of an attempt that crashed with these observations. */
function crashed(observations: readonly Observation[]) {
  const { class: failure, reason } = classifyAttempt({
    result: {
      observations: [...observations],
      killReason: null,
      exitCode: 1,
      signal: null,
      oomKills: 0,
      turns: 1,
      completion: { completed: false, signal: 'none', reason: '', conflict: false },
      collected: true,
    },
  });
  return { failure, reason };
}

describe('errors of a provider, as the harness saw them', () => {
  it.each([
    ['only claimed', [claim('rate_limit', 429)], [], { failure: 'agent', reason: 'AgentCrash' }],
    [
      'claimed, and answered well',
      [claim('rate_limit', 429)],
      [answered],
      { failure: 'agent', reason: 'AgentCrash' },
    ],
    [
      'claimed and seen',
      [claim('rate_limit', 429)],
      [limited],
      { failure: 'provider', reason: 'ProviderRateLimit' },
    ],
    ['seen and not told', [], [answered, limited], { failure: 'provider', reason: 'ProviderRateLimit' }],
    [
      'recovered from',
      [claim('rate_limit', 429)],
      [limited, answered],
      { failure: 'agent', reason: 'AgentCrash' },
    ],
    [
      'followed by a call that was given up',
      [],
      [limited, abandoned],
      { failure: 'provider', reason: 'ProviderRateLimit' },
    ],
    [
      'followed by a call that was wrong',
      [],
      [limited, refused],
      { failure: 'provider', reason: 'ProviderRateLimit' },
    ],
    [
      'claimed as another one than was seen',
      [claim('authentication', 401)],
      [limited],
      { failure: 'provider', reason: 'ProviderRateLimit' },
    ],
    [
      'a gateway that was down',
      [claim('connection', 502)],
      [down],
      { failure: 'infrastructure', reason: 'GatewayUnavailable' },
    ],
    [
      'a gateway that came back',
      [claim('connection', 502)],
      [down, answered],
      { failure: 'agent', reason: 'AgentCrash' },
    ],
    [
      'given up by the agent itself',
      [claim('connection', null)],
      [abandoned],
      { failure: 'agent', reason: 'AgentCrash' },
    ],
  ] as const)('%s', (_, claims, calls, expected) => {
    expect(crashed(confirmProviderErrors(claims, calls, false))).toEqual(expected);
  });

  it('are no failure of an agent that came to a good end', () => {
    const observations = confirmProviderErrors([claim('rate_limit', 429)], [limited], true);
    expect(observations).toEqual([{ ...claim('rate_limit', 429, false), confirmed: true }]);
  });

  it('keep what the session told, and say whether it was seen', () => {
    const exit: Observation = { kind: 'agent_exit', code: 1, signal: null };
    const observations = confirmProviderErrors(
      [exit, claim('quota', null), claim('rate_limit', 429)],
      [limited],
      false,
    );
    expect(observations).toEqual([
      exit,
      { ...claim('quota', null, false), confirmed: false },
      { ...claim('rate_limit', 429, false), confirmed: true },
      { ...claim('rate_limit', 429), confirmed: true },
    ]);
  });

  it('count a gateway that was down against an agent that went on without its model', () => {
    expect(confirmProviderErrors([], [answered, down, down], true)).toEqual([
      { kind: 'gateway_down', calls: 2, final: true, message: 'no answer' },
    ]);
  });

  it('never make an attempt anything but the agent’s by its session alone', () => {
    const claims = fc.array(
      fc.record({
        error: fc.constantFrom(...PROVIDER_ERROR_KINDS),
        status: fc.constantFrom(null, 401, 404, 429, 500, 503),
        final: fc.boolean(),
      }),
    );
    const harmless = fc.array(fc.constantFrom(answered, refused, abandoned));
    fc.assert(
      fc.property(claims, harmless, fc.boolean(), (said, calls, inOrder) => {
        const told = said.map(({ error, status, final }) => claim(error, status, final));
        expect(crashed(confirmProviderErrors(told, calls, inOrder))).toEqual({
          failure: 'agent',
          reason: 'AgentCrash',
        });
      }),
    );
  });
});

describe('usage by the gateway’s account', () => {
  const call: ModelCallRecord = {
    trial: 't',
    attempt: 1,
    role: 'agent',
    ordinal: 1,
    startedAt: endedAt,
    heldMs: 0,
    durationMs: 1,
    api: 'openai-completions',
    stream: true,
    end: 'answered',
    status: 200,
    error: null,
    usage: { input: 10, output: 5, cacheRead: 2, cacheWrite: 1 },
    costUsd: 0.5,
  };
  const usageOf = (...calls: ModelCallRecord[]) => {
    const { inputTokens, totalTokens, costUsd, source } = accountedUsage(NO_SESSION.usage, calls);
    return { inputTokens, totalTokens, costUsd, source };
  };

  it('adds up, and knows that nothing was used', () => {
    expect(usageOf(call, call)).toEqual({ inputTokens: 20, totalTokens: 36, costUsd: 1, source: 'gateway' });
    expect(usageOf()).toEqual({ inputTokens: 0, totalTokens: 0, costUsd: 0, source: 'gateway' });
  });

  it('is not known where a good answer told nothing; a refusal uses nothing', () => {
    const refusal: ModelCallRecord = {
      ...call,
      status: 429,
      error: 'rate_limit',
      usage: null,
      costUsd: null,
    };
    expect(usageOf(call, refusal)).toMatchObject({ totalTokens: 18, costUsd: 0.5 });
    expect(usageOf(call, { ...call, usage: null, costUsd: null })).toMatchObject({
      totalTokens: null,
      costUsd: null,
    });
    expect(usageOf(call, { ...call, costUsd: null })).toMatchObject({ totalTokens: 36, costUsd: null });
  });
});
