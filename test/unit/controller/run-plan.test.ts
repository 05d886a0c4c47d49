import { describe, expect, it } from 'vitest';
import type { RunConditionType } from '../../../src/api/run-status.ts';
import { planRun } from '../../../src/controller/run/plan.ts';
import type { RunPlan } from '../../../src/controller/run/plan-draft.ts';
import { attempt, at, iso } from './builders.ts';
import {
  condition,
  executed,
  good,
  job,
  round,
  run,
  runOptions,
  scored,
  seen,
  suite,
  trial,
} from './run-builders.ts';

const conditionIn = (plan: RunPlan, type: RunConditionType) =>
  plan.status.conditions.find((candidate) => candidate.type === type);
const kinds = (plan: RunPlan) => plan.children.map(({ kind }) => kind);
const PROBED = { provenance: { runtimeImageDigest: 'sha256:image' } };
const both = (over: Parameters<typeof trial>[1]) => [trial('one', over), trial('two', over)];

describe('before the first trial', () => {
  const early = { prepare: null, suite: null, run: run({ finalizers: [] }) };

  it('makes account, policies and claim first, and nothing that needs the claim', () => {
    expect(kinds(planRun(seen({ ...early, claim: null }), runOptions(0)))).toEqual([
      'worker',
      'policies',
      'claim',
    ]);
  });

  it('looks for a claim that it has just made, because nothing else would make it look', () => {
    const plan = planRun(seen({ ...early, claim: null }), runOptions(0));
    expect(plan.requeueAt).toBe(at(0) + 500);
  });

  it('then probes the image and freezes the suite at once', () => {
    const plan = planRun(seen(early), runOptions(0));
    expect(kinds(plan)).toEqual(['worker', 'policies', 'probe', 'prepare']);
    expect(plan.status.phase).toBe('Preparing');
  });

  it('waits for what is missing, says what, and gives up after the start bound', () => {
    const missing = [{ kind: 'Secret' as const, name: 'keys', field: 'spec.model.apiKeySecretRef' }];
    const plan = planRun(seen({ ...early, missing }), runOptions(0));
    expect(kinds(plan)).toEqual([]);
    expect(plan.status).toMatchObject({
      phase: 'Pending',
      reason:
        "MissingReference: spec.model.apiKeySecretRef: there is no Secret keys in the run's namespace; create it",
    });
    const late = planRun(seen({ ...early, missing }), runOptions(600));
    expect(conditionIn(late, 'Failed')).toMatchObject({ status: 'True', reason: 'MissingReference' });
    expect(conditionIn(late, 'Complete')).toMatchObject({ status: 'False' });
  });

  it('refuses a claim that only one pod may have', () => {
    const claim = { name: 'c', accessModes: ['ReadWriteOncePod'], ownedByRun: false, phase: 'Bound' };
    const plan = planRun(seen({ ...early, claim }), runOptions(0));
    expect(conditionIn(plan, 'Failed')).toMatchObject({ status: 'True', reason: 'ClaimRefused' });
  });

  it('fails with the words of the Job that could not freeze the suite', () => {
    const prepare = job('failed', { said: 'freeze: SuiteInvalid: a.yaml: no checks' });
    const plan = planRun(seen({ ...early, prepare }), runOptions(200));
    expect(plan.status).toMatchObject({
      phase: 'Failed',
      reason: 'PrepareFailed: freeze: SuiteInvalid: a.yaml: no checks',
    });
  });

  it('fails when preparing has no end, and when its index never shows', () => {
    const active = planRun(seen({ ...early, prepare: job('active') }), runOptions(3600));
    expect(conditionIn(active, 'Failed')).toMatchObject({ reason: 'PrepareDeadline' });
    const lost = planRun(seen({ ...early, prepare: job('complete') }), runOptions(161));
    expect(conditionIn(lost, 'Failed')).toMatchObject({ reason: 'IndexMissing' });
  });

  it('fails early for an image that does not run', () => {
    const probe = {
      ...{ uid: 'p', state: 'failed' as const, since: at(0), imageDigest: null },
      ...{ reason: 'RuntimeImageUnusable', message: 'cannot start node' },
    };
    const plan = planRun(seen({ ...early, probe }), runOptions(10));
    expect(plan.status.reason).toBe('RuntimeImageUnusable: cannot start node');
    const slow = { ...probe, state: 'starting' as const, message: 'probe: ImagePullBackOff' };
    const waits = planRun(seen({ ...early, probe: slow }), runOptions(119));
    expect(conditionIn(waits, 'Failed')).toBeUndefined();
    const late = planRun(seen({ ...early, probe: slow }), runOptions(120));
    expect(conditionIn(late, 'Failed')?.message).toContain('ImagePullBackOff');
  });

  it('adds the finalizer in a write of its own before any Trial', () => {
    const plan = planRun(seen({ run: run({ finalizers: [], status: PROBED }) }), runOptions(0));
    expect(plan).toMatchObject({ finalizer: 'add', trials: [] });
    expect(planRun(seen(), runOptions(0)).trials).toHaveLength(2);
  });

  it('says that the pods share a node where the claim wants it', () => {
    const claim = { name: 'c', accessModes: ['ReadWriteOnce'], ownedByRun: true, phase: 'Bound' };
    expect(conditionIn(planRun(seen({ claim }), runOptions(0)), 'ArtifactsCollected')).toMatchObject({
      status: 'Unknown',
      reason: 'OneNode',
    });
  });
});

describe('Trials', () => {
  it('are created once, each scenario first', () => {
    const twice = run({ spec: { trialsPerScenario: 2 }, status: PROBED });
    const plan = planRun(seen({ run: twice }), runOptions(0));
    expect(plan.trials.map(({ spec }) => [spec.scenarioId, spec.trialNumber])).toEqual([
      ['one', 1],
      ['two', 1],
      ['one', 2],
      ['two', 2],
    ]);
    const createdTrials = new Set(plan.trials.map(({ name }) => name));
    expect(planRun(seen({ run: twice, createdTrials }), runOptions(0)).trials).toEqual([]);
  });

  it('of scenarios that the runtime cannot run are over at once', () => {
    const index = { ...suite('one'), scenarios: [{ ...suite('one').scenarios[0]!, surfaces: ['browser'] }] };
    const plan = planRun(seen({ suite: index, trials: [trial('one')] }), runOptions(0));
    expect(plan.trialStatuses[0]?.status).toMatchObject({ phase: 'Scored', outcome: 'unsupported' });
  });
});

describe('score rounds', () => {
  it('wait for a batch or for the last trial', () => {
    const trials = [trial('one', executed), trial('two')];
    expect(kinds(planRun(seen({ trials }), runOptions(100)))).not.toContain('round');
    const batch = run({ spec: { scoring: { batchSize: 1 } }, status: PROBED });
    const plan = planRun(seen({ run: batch, trials }), runOptions(100));
    expect(plan.children.at(-1)).toMatchObject({ kind: 'round', number: 1, list: { last: false } });
    const last = planRun(seen({ trials: both(executed) }), runOptions(100));
    expect(last.children.at(-1)).toMatchObject({
      kind: 'round',
      number: 1,
      list: { last: true, revision: 1, trials: [{ digest: 'f', attempt: 1 }, {}] },
    });
  });

  it('are one at a time, and a ConfigMap without its Job gets it', () => {
    const trials = both(executed);
    const running = [round(1, trials, { job: job('active') })];
    expect(kinds(planRun(seen({ trials, rounds: running }), runOptions(100)))).not.toContain('round');
    const half = [round(1, trials, { job: null })];
    expect(planRun(seen({ trials, rounds: half }), runOptions(100)).children.at(-1)).toMatchObject({
      kind: 'round',
      number: 1,
    });
  });

  it('are waited for after their end while the cache does not show their scores', () => {
    const trials = both(executed);
    const rounds = [round(1, trials)];
    const plan = planRun(seen({ trials, rounds }), runOptions(101));
    expect(kinds(plan)).not.toContain('round');
    expect(plan.requeueAt).toBe(at(160));
    expect(planRun(seen({ trials, rounds }), runOptions(160)).children.at(-1)).toMatchObject({ number: 2 });
  });

  it('that failed three times make scoring errors, and then the report is made without them', () => {
    const trials = both(executed);
    const failedRound = (number: number) =>
      round(number, trials, { job: job('failed', { said: 'score: OutOfMemory' }) });
    const again = planRun(seen({ trials, rounds: [failedRound(1), failedRound(2)] }), runOptions(200));
    expect(again.children.at(-1)).toMatchObject({ kind: 'round', number: 3 });
    const rounds = [1, 2, 3].map(failedRound);
    const plan = planRun(seen({ trials, rounds }), runOptions(200));
    expect(plan.trialStatuses.map(({ status }) => [status.phase, status.class, status.outcome])).toEqual([
      ['Scored', 'scoring', 'execution_failure'],
      ['Scored', 'scoring', 'execution_failure'],
    ]);
    const errors = trials.map((one, i) => ({ ...one, status: plan.trialStatuses[i]!.status }));
    const report = planRun(seen({ trials: errors, rounds }), runOptions(300));
    expect(report.children.at(-1)).toMatchObject({ number: 4, list: { last: true, trials: [] } });
    const empty = { ...failedRound(4), list: { revision: 1, last: true, trials: [] } };
    const more = [...rounds, empty, { ...empty, number: 5 }, { ...empty, number: 6 }];
    const end = planRun(seen({ trials: errors, rounds: more }), runOptions(900));
    expect(conditionIn(end, 'Failed')).toMatchObject({ status: 'True', reason: 'ScoringFailed' });
  });
});

describe('the end', () => {
  const trials = both(scored);
  const done = { trials, rounds: [round(1, trials)] };

  it('is Complete when every trial is scored and reported', () => {
    const plan = planRun(seen(done), runOptions(200));
    expect(plan.status).toMatchObject({
      phase: 'Completed',
      progress: '2/2',
      rowStatus: 'clean_base',
      scoredRevision: 1,
      reason: null,
      completionTime: iso(200),
    });
    expect(conditionIn(plan, 'Failed')).toMatchObject({ status: 'False' });
    expect(plan.events).toMatchObject([{ type: 'Normal', reason: 'Completed' }]);
  });

  const completed = {
    ...PROBED,
    conditions: [condition('SuiteFrozen', 'True'), condition('Complete', 'True')],
    scoredRevision: 1,
    completionTime: iso(200),
  };

  it('says nothing twice, lets go of the run, and counts its time to live by its outcome', () => {
    const ttl = { succeeded: 60, failed: 600 };
    const over = run({ spec: { ttlSecondsAfterFinished: ttl }, status: completed });
    const plan = planRun(seen({ ...done, run: over }), runOptions(210));
    expect(plan).toMatchObject({ finalizer: 'remove', events: [], deleteRun: false, requeueAt: at(260) });
    expect(planRun(seen({ ...done, run: over }), runOptions(260)).deleteRun).toBe(true);
  });

  it('is kept while the run is scored again, and Scored flips', () => {
    const raised = run({ spec: { scoring: { revision: 2 } }, status: completed });
    const plan = planRun(seen({ ...done, run: raised }), runOptions(300));
    expect(plan.children.at(-1)).toMatchObject({
      kind: 'round',
      number: 2,
      list: { revision: 2, last: true },
    });
    expect(conditionIn(plan, 'Scored')).toMatchObject({ status: 'False' });
    expect(conditionIn(plan, 'Complete')).toMatchObject({ status: 'True' });
  });

  it('is taken back by a rerun, once its trials are seen open', () => {
    const broken = trial('two', {
      ...scored,
      class: 'infrastructure',
      outcome: 'execution_failure',
      attempts: [attempt({ endedAt: iso(60), class: 'infrastructure', reason: 'SetupFailed' })],
    });
    const rerun = { revision: 1, classes: ['infrastructure'] };
    const asked = run({ spec: { rerun }, status: completed });
    const observation = { ...done, run: asked, trials: [trial('one', scored), broken] };
    const plan = planRun(seen(observation), runOptions(300));
    expect(plan.trialStatuses).toMatchObject([
      {
        trial: { spec: { scenarioId: 'two' } },
        status: { phase: 'Pending', rerunRevision: 1, outcome: null },
      },
    ]);
    expect(plan.status.rerunRevision).toBeUndefined();
    const open = trial('two', { rerunRevision: 1, attempts: broken.status.attempts });
    const taken = planRun(seen({ ...observation, trials: [trial('one', scored), open] }), runOptions(301));
    expect(taken.status).toMatchObject({ rerunRevision: 1, progress: '1/2', phase: 'Running' });
    expect(conditionIn(taken, 'Complete')).toMatchObject({ status: 'False', reason: 'Rerun' });
  });

  it('of a cancelled run is Failed, after what was executed is scored', () => {
    const cancelled = run({ spec: { cancel: true }, status: PROBED });
    const some = [trial('one', executed), trial('two', { phase: 'Cancelled', reason: 'Cancelled' })];
    const scoring = planRun(seen({ run: cancelled, trials: some }), runOptions(100));
    expect(scoring.children.at(-1)).toMatchObject({ kind: 'round', list: { last: true, trials: [{}] } });
    const after = [trial('one', scored), some[1]!];
    const plan = planRun(
      seen({ run: cancelled, trials: after, rounds: [round(1, [after[0]!])] }),
      runOptions(200),
    );
    expect(conditionIn(plan, 'Failed')).toMatchObject({ status: 'True', reason: 'Cancelled' });
  });
});

describe('the breaker', () => {
  const failing = (count: number, other: Parameters<typeof attempt>[0] = {}) =>
    Array.from({ length: count }, (_, i) =>
      trial(`s${i}`, {
        phase: 'Backoff',
        attempts: [
          attempt({
            endedAt: iso(i),
            class: 'provider',
            reason: 'ProviderRateLimit',
            ...(i === 5 ? other : {}),
          }),
        ],
      }),
    );

  it('stops a run of which the last ten attempts failed alike, and fails it after an hour', () => {
    const trials = failing(10);
    const plan = planRun(
      seen({ trials, suite: suite(...trials.map((t) => t.spec.scenarioId)) }),
      runOptions(60),
    );
    expect(conditionIn(plan, 'Stalled')).toMatchObject({ status: 'True', reason: 'ProviderRateLimit' });
    expect(plan.requeueAt).toBe(at(3660));
    const stalled = run({
      status: {
        ...PROBED,
        conditions: [condition('SuiteFrozen', 'True'), condition('Stalled', 'True', 'Why', 60)],
      },
    });
    const cancelled = trials.map((one) => ({
      ...one,
      status: { ...one.status, phase: 'Cancelled' as const },
    }));
    const rounds = [round(1, [])];
    const end = planRun(
      seen({
        run: stalled,
        trials: cancelled,
        rounds,
        suite: suite(...trials.map((t) => t.spec.scenarioId)),
      }),
      runOptions(3660),
    );
    expect(conditionIn(end, 'Failed')).toMatchObject({ status: 'True', reason: 'Why' });
  });

  it('is not tripped by nine, by the agent, or with a success between', () => {
    for (const trials of [
      failing(9),
      failing(10, { class: 'agent' }),
      failing(10, { class: null, reason: null }),
    ]) {
      expect(conditionIn(planRun(seen({ trials }), runOptions(60)), 'Stalled')).toBeUndefined();
    }
  });
});

describe('a run that is deleted', () => {
  const deleted = run({ deletedAt: iso(100), status: PROBED });
  const live = { name: 'p', uid: 'p', trial: 't', live: true };

  it('is held while pods collect, but not for ever', () => {
    const plan = planRun(seen({ run: deleted, pods: [live] }), runOptions(101));
    expect(plan).toMatchObject({ finalizer: null, requeueAt: at(400), children: [] });
    expect(planRun(seen({ run: deleted, pods: [{ ...live, live: false }] }), runOptions(101)).finalizer).toBe(
      'remove',
    );
    const late = planRun(seen({ run: deleted, pods: [live] }), runOptions(400));
    expect(late).toMatchObject({ finalizer: 'remove', events: [{ reason: 'ReleasedUncollected' }] });
  });
});

describe('what is left over', () => {
  it('keeps the last failed pods', () => {
    const trials = ['one', 'two'].map((id, i) =>
      trial(id, {
        ...executed,
        attempts: [{ ...good, podUID: `pod-${id}`, endedAt: iso(i), class: 'agent' }],
      }),
    );
    const pods = ['one', 'two'].map((id) => ({ name: id, uid: `pod-${id}`, trial: id, live: false }));
    const plan = planRun(seen({ trials, pods }), runOptions(100, { failedPodsKept: 1 }));
    expect(plan.removals).toEqual([{ kind: 'pod', name: 'one', uid: 'pod-one' }]);
  });

  it('releases its claim with the first artifact, unless it is not to be retained', () => {
    const trials = [trial('one', executed), trial('two')];
    expect(planRun(seen({ trials }), runOptions(0)).releaseClaim).toBe(true);
    expect(planRun(seen({ trials: both({}) }), runOptions(0)).releaseClaim).toBe(false);
    const kept = run({ spec: { artifacts: { retain: false } }, status: PROBED });
    expect(planRun(seen({ trials, run: kept }), runOptions(0)).releaseClaim).toBe(false);
  });
});
