import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../../src/api/errors.ts';
import {
  parseSuiteSource,
  planCancel,
  planRerun,
  planRescore,
  planResume,
  planSuspend,
} from '../../../src/cli/cluster/change-run.ts';
import { copyLine, resultText } from '../../../src/cli/cluster/artifacts-command.ts';
import { progressOf, runNotes, trialNote } from '../../../src/cli/cluster/cluster-progress.ts';
import { asUserError, ClusterUnusableError } from '../../../src/cli/cluster/failures.ts';
import { standingOf } from '../../../src/cli/cluster/reader-session.ts';
import { endOf, type RunObject, type TrialObject } from '../../../src/cli/cluster/resources.ts';
import { exitCodeOf } from '../../../src/cli/cluster/run-session.ts';
import { runTable, runText } from '../../../src/cli/cluster/run-tables.ts';
import { createBar } from '../../../src/cli/progress-bar.ts';
import { ApiStatusError, ApiUnreachableError } from '../../../src/kube/errors.ts';
import type { Pod } from '../../../src/kube/object.ts';

const NOW = new Date('2026-01-01T01:00:00Z');
type Status = NonNullable<RunObject['status']>;

function runOf(status: Status, spec: RunObject['spec'] = {}, generation = 1): RunObject {
  return {
    apiVersion: 'clawbench.dev/v1alpha1',
    kind: 'BenchmarkRun',
    metadata: {
      name: 'smoke',
      namespace: 'team-a',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation,
    },
    spec,
    status,
  };
}

function condition(type: 'Complete' | 'Failed' | 'Stalled', message = '') {
  return {
    type,
    status: 'True' as const,
    reason: 'Because',
    message,
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
}

function trialOf(status: TrialObject['status']): TrialObject {
  return {
    apiVersion: 'clawbench.dev/v1alpha1',
    kind: 'Trial',
    metadata: { name: 't', uid: 't', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      runName: 'smoke',
      scenarioId: 'plan_a',
      trialNumber: 2,
      dimension: 'planning',
      scenarioDigest: '',
      suiteDigest: '',
    },
    ...(status === undefined ? {} : { status }),
  };
}

describe('the end of a run', () => {
  const complete = { observedGeneration: 1, scoredRevision: 1, conditions: [condition('Complete')] };
  test.each([
    ['complete', runOf(complete), 'complete'],
    ['failed', runOf({ observedGeneration: 1, conditions: [condition('Failed')] }), 'failed'],
    ['a status about an older spec', runOf(complete, {}, 2), null],
    ['a scoring that is asked for', runOf(complete, { scoring: { revision: 2 } }), null],
    ['a rerun not taken up', runOf(complete, { rerun: { revision: 1, classes: ['provider'] } }), null],
    [
      'a rerun that ended',
      runOf({ ...complete, rerunRevision: 1 }, { rerun: { revision: 1, classes: ['provider'] } }),
      'complete',
    ],
    ['nothing yet', runOf({}), null],
  ])('%s', (_name, run, end) => {
    expect(endOf(run)).toBe(end);
  });

  test('is 1 for execution failures, cancelled trials and a failed run', () => {
    const counts = (byOutcome: Record<string, number>, byPhase: Record<string, number> = {}) =>
      runOf({ ...complete, counts: { trials: 1, byPhase, byOutcome, byClass: {} } });
    expect(exitCodeOf(counts({ pass: 1, threshold_miss: 1, safety_failure: 1 }))).toBe(0);
    expect(exitCodeOf(counts({ execution_failure: 1 }))).toBe(1);
    expect(exitCodeOf(counts({ pass: 1 }, { Cancelled: 1 }))).toBe(1);
    expect(exitCodeOf(runOf({ observedGeneration: 1, conditions: [condition('Failed')] }))).toBe(1);
  });
});

describe('changes', () => {
  const going = runOf({ observedGeneration: 1 });
  const over = runOf({ observedGeneration: 1, conditions: [condition('Complete')] });
  test('are planned once and not on what has ended', () => {
    expect(planSuspend(going)).toMatchObject({ kind: 'patch', spec: { suspend: true } });
    expect(planSuspend(runOf({}, { suspend: true }))).toMatchObject({ kind: 'nothing' });
    expect(planResume(going)).toMatchObject({ kind: 'nothing' });
    expect(planResume(runOf({}, { suspend: true }))).toMatchObject({ spec: { suspend: false } });
    for (const plan of [planSuspend, planResume, planCancel]) {
      expect(plan(over)).toMatchObject({
        kind: 'nothing',
        said: expect.stringContaining('has ended') as string,
      });
    }
  });

  test('raise revisions by one from wherever they stand', () => {
    expect(planRescore(runOf({}), undefined)).toMatchObject({ spec: { scoring: { revision: 2 } } });
    expect(planRescore(runOf({}, { scoring: { revision: 7 } }), { builtin: {} })).toMatchObject({
      spec: { scoring: { revision: 8, suite: { builtin: {}, configMap: null } } },
    });
    expect(planRerun(runOf({}), ['provider'], [])).toMatchObject({ spec: { rerun: { revision: 1 } } });
    const again = runOf({}, { rerun: { revision: 4, classes: ['provider'] } });
    expect(planRerun(again, ['adapter'], ['a'])).toMatchObject({
      spec: { rerun: { revision: 5, classes: ['adapter'], scenarioIds: ['a'] } },
    });
  });

  test.each([
    ['builtin', { builtin: {} }],
    ['pvc:suites', { persistentVolumeClaim: { claimName: 'suites' } }],
    ['pvc:suites/a/b', { persistentVolumeClaim: { claimName: 'suites', path: 'a/b' } }],
    ['configmap:fixed', { configMap: { name: 'fixed' } }],
    ['image:host:5000/s@sha256:ab#in', { image: { reference: 'host:5000/s@sha256:ab', path: 'in' } }],
  ])('take suite %s', (text, source) => {
    expect(parseSuiteSource(text)).toEqual(source);
  });

  test.each(['', 'pvc:', 'folder', 'git:x'])('refuse suite %j', (text) => {
    expect(() => parseSuiteSource(text)).toThrow(InvalidInputError);
  });
});

describe('failures of the API server', () => {
  const refusal = (code: number, body: object) =>
    asUserError(new ApiStatusError('apply', code, body), 'run.yaml');
  test.each([
    ['Invalid value: "object": model is missing', 'run.yaml: spec: model is missing'],
    ['Invalid value: trials is frozen', 'run.yaml: spec: trials is frozen'],
    ['Invalid value: 0: should be at least 1', 'run.yaml: spec: Invalid value: 0: should be at least 1'],
  ])('%s', (message, said) => {
    const error = refusal(422, {
      reason: 'Invalid',
      details: { name: 'x', causes: [{ field: 'spec', message }] },
    });
    expect(error).toBeInstanceOf(InvalidInputError);
    expect((error as Error).message).toBe(said);
  });

  test('tell an input that is refused from a cluster that is not to be had', () => {
    expect(refusal(403, { reason: 'Forbidden', message: 'you may not' })).toBeInstanceOf(InvalidInputError);
    expect(refusal(404, { message: '404 page not found' })).toMatchObject({
      message: expect.stringContaining('Install the operator') as string,
    });
    for (const code of [401, 429, 500, 503]) expect(refusal(code, {})).toBeInstanceOf(ClusterUnusableError);
    expect(asUserError(new ApiUnreachableError('get', 'ECONNREFUSED', 'refused'))).toBeInstanceOf(
      ClusterUnusableError,
    );
    const other = new Error('a fault of this program');
    expect(asUserError(other)).toBe(other);
  });
});

describe('progress', () => {
  const scored = trialOf({ phase: 'Scored', outcome: 'pass', score: 1 });
  const running = trialOf({ phase: 'Running' });
  test('is counted anew from trials, a rerun that opens some again included', () => {
    const run = runOf({ counts: { trials: 5, byPhase: {}, byOutcome: {}, byClass: {} } });
    expect(progressOf(run, [scored, running, scored], 1)).toMatchObject({
      trials: 5,
      finishedBefore: 1,
      ended: 1,
      running: 1,
      outcomes: { pass: 2 },
    });
    expect(progressOf(run, [running], 3)).toMatchObject({ finishedBefore: 0, ended: 0 });
  });

  test('says the end of a trial once, a back-off with its time, a wait with its reason', () => {
    const state = progressOf(undefined, [scored], 0);
    expect(trialNote(running, scored, state, NOW)).toEqual({
      text: '[1/1] plan_a/2: pass 1.0000',
      attention: false,
    });
    expect(trialNote(scored, scored, state, NOW)).toBeNull();
    const backoff = trialOf({ phase: 'Backoff', notBefore: '2026-01-01T01:00:20Z' });
    expect(trialNote(running, backoff, state, NOW)?.text).toContain('again in 20 s');
    const queued = trialOf({ phase: 'Queued', reason: '0/1 nodes are available\u001b[31m' });
    const note = trialNote(trialOf({ phase: 'Pending' }), queued, state, NOW);
    expect(note?.text).toContain('plan_a/2: waits: 0/1 nodes are available');
    expect(note?.text).not.toContain('\u001b');
  });

  test('says a stall once, and again when it changes', () => {
    const stalled = runOf({ conditions: [condition('Stalled', 'ten alike')] });
    expect(runNotes(undefined, stalled).map(({ text }) => text)).toEqual([
      'Stalled True: Because: ten alike',
    ]);
    expect(runNotes(stalled, stalled)).toEqual([]);
    expect(runNotes(stalled, runOf({ conditions: [condition('Stalled', 'twenty')] }))).toHaveLength(1);
  });

  test('draws a bar on a terminal alone', () => {
    const written: string[] = [];
    const write = (text: string) => written.push(text);
    const piped = createBar({ write }, () => 'bar');
    piped.line('one');
    piped.redraw();
    piped.close();
    expect(written).toEqual(['one\n']);
    const terminal = createBar({ write, isTTY: true }, () => 'bar');
    terminal.redraw();
    terminal.close();
    expect(written.slice(1).join('')).toContain('bar');
  });
});

describe('tables', () => {
  test('show a run that nobody has looked at, and one that ended', () => {
    expect(runText(runOf({}), [], NOW)).toContain('Is the operator running?');
    const counts = {
      trials: 4,
      byPhase: { Scored: 4 },
      byOutcome: { pass: 1, threshold_miss: 3 },
      byClass: {},
    };
    expect(runTable([runOf({ phase: 'Completed', progress: '4/4', counts })], NOW)).toMatch(
      /smoke +Completed +4\/4 +1 +3 +– +60 min/,
    );
    expect(runTable([], NOW)).toBe('No run to show.');
  });

  test('say what was copied, what is wrong and what is left out', () => {
    const result = { files: 3, bytes: 2_500_000, kept: 1, attempts: 2, problems: ['a is changed'] };
    const text = resultText(result, { output: 'out', withAnswers: false });
    expect(text).toContain('3 files, 2.5 MB in out, 1 of them were there already');
    expect(text).toContain('  a is changed');
    expect(text).toContain('--with-answers');
    expect(resultText(result, { output: 'out', withAnswers: true })).not.toContain('--with-answers');
    expect(copyLine({ files: 1, bytes: 1, totalFiles: 2, totalBytes: 2 }, 80)).toContain(
      '[##########----------] 1/2',
    );
  });
});

describe('a reader pod', () => {
  const pod = (status: object) => ({ status }) as unknown as Pod;
  const waiting = (reason: string) => ({
    containerStatuses: [{ name: 'reader', state: { waiting: { reason, message: 'words' } } }],
  });
  test.each([
    [{}, 'waiting', 'it is being created'],
    [waiting('ContainerCreating'), 'waiting', 'ContainerCreating'],
    [waiting('ErrImagePull'), 'waiting', 'ErrImagePull: words'],
    [waiting('ImagePullBackOff'), 'hopeless', 'ImagePullBackOff: words'],
    [{ phase: 'Failed', reason: 'Evicted', message: 'no disk' }, 'hopeless', 'it ended (Evicted: no disk)'],
    [
      {
        conditions: [
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' },
        ],
      },
      'waiting',
      'Unschedulable: 0/1 nodes',
    ],
    [{ containerStatuses: [{ name: 'reader', state: { running: {} } }] }, 'running', ''],
  ])('%j', (status, kind, why) => {
    expect(standingOf(pod(status))).toEqual({ kind, why });
  });
});
