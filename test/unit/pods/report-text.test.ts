import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROVIDER_ERROR_KINDS, type Observation } from '../../../src/api/attempt.ts';
import { harnessReportSchema, type HarnessReport } from '../../../src/api/harness-report.ts';
import { TERMINATION_MESSAGE_BYTES } from '../../../src/api/pod-contract.ts';
import { KILL_REASONS } from '../../../src/api/vocabulary.ts';
import { classifyAttempt } from '../../../src/attempt/failure-class.ts';
import { reportText } from '../../../src/pods/harness/report-text.ts';

const message = fc.oneof(fc.string({ maxLength: 2000, unit: 'binary' }), fc.constant('\u0000'.repeat(900)));
const observation: fc.Arbitrary<Observation> = fc.oneof(
  fc.record({ kind: fc.constant('agent_exit' as const), code: fc.nat(255), signal: fc.constant(null) }),
  fc.record({
    kind: fc.constant('killed' as const),
    reason: fc.constantFrom(...KILL_REASONS),
    turn: fc.nat(9),
    escalated: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('agent_oom' as const), oomKills: fc.nat(3) }),
  fc.record({
    kind: fc.constant('provider_error' as const),
    error: fc.constantFrom(...PROVIDER_ERROR_KINDS),
    status: fc.constantFrom(null, 401, 429, 500),
    final: fc.boolean(),
    message,
  }),
  fc.record({ kind: fc.constantFrom('shim_lost' as const, 'adapter_error' as const), message }),
  fc.record({
    kind: fc.constantFrom('staging_failed' as const, 'collection_failed' as const),
    message,
    reason: fc.constantFrom('DiskFull', 'CollectionCutShort'),
  }),
  fc.record({
    kind: fc.constant('leftover_processes' as const),
    count: fc.nat(999),
    commands: fc.array(fc.string({ maxLength: 256 }), { maxLength: 64 }),
  }),
);

function report(observations: Observation[], reason = ''): HarnessReport {
  return {
    v: 1,
    operatorVersion: '0.1.0',
    trial: 'a'.repeat(51),
    attempt: 123_456,
    podUID: '00000000-0000-4000-8000-000000000001',
    step: 'done',
    turn: 3,
    connectedAt: '2026-01-01T00:00:00.000Z',
    sigterm: false,
    result: {
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:30:00.000Z',
      observations,
      killReason: null,
      exitCode: 0,
      signal: null,
      oomKills: 0,
      turns: 3,
      completion: { completed: true, signal: 'stop_reason', reason, conflict: false, stopReason: 'stop' },
      runtimeMs: 1_799_999,
      wallClockMs: 1_800_000,
      collected: true,
      manifestDigest: 'f'.repeat(64),
      isolation: 'container',
      artifacts: { files: 20_000, bytes: 268_435_456 },
      usage: { toolCalls: 4000, totalTokens: 123_456_789, costUsd: 12.345678 },
    },
    fault: null,
  };
}

describe('the text of a report', () => {
  it('holds everything where there is room', () => {
    const full = report([{ kind: 'agent_exit', code: 1, signal: null }], 'the agent said that it is done');
    expect(JSON.parse(reportText(full))).toEqual(full);
  });

  it('fits whatever was observed, and a controller comes to the same class by it', () => {
    fc.assert(
      fc.property(fc.array(observation, { maxLength: 12 }), message, (observations, reason) => {
        const full = report(observations, reason);
        const text = reportText(full);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(TERMINATION_MESSAGE_BYTES);
        const read = harnessReportSchema.parse(JSON.parse(text));
        expect(classifyAttempt({ result: read.result })).toEqual(classifyAttempt({ result: full.result }));
      }),
      { numRuns: 300 },
    );
  });

  it('gives up what decides nothing first', () => {
    const refusals: Observation[] = PROVIDER_ERROR_KINDS.flatMap((error) =>
      [400, 429, 500, 503].map((status) => ({
        kind: 'provider_error' as const,
        error,
        status,
        final: false,
        message: 'x',
      })),
    );
    const text = reportText(report([...refusals, { kind: 'agent_oom', oomKills: 1 }]));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(TERMINATION_MESSAGE_BYTES);
    expect(text).toContain('agent_oom');
  });
});
