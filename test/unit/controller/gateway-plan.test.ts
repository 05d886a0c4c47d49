import { describe, expect, it } from 'vitest';
import type { RunConditionType, RunStatus } from '../../../src/api/run-status.ts';
import type { RunObservation } from '../../../src/controller/run/observation.ts';
import { planRun } from '../../../src/controller/run/plan.ts';
import type { RunPlan } from '../../../src/controller/run/plan-draft.ts';
import { mayStart } from '../../../src/controller/schedule/demand.ts';
import { iso } from './builders.ts';
import { condition, executed, job, run, runOptions, scored, seen, trial } from './run-builders.ts';

const model = { id: 'm', api: 'scripted' };
const UP = { uid: 'deployment', ready: true, message: '' };
const DOWN = { uid: 'deployment', ready: false, message: 'gateway: CrashLoopBackOff' };
const PROBED = { runtimeImageDigest: 'sha256:image' };
const ANSWERED = { ...PROBED, modelAnsweredAt: iso(5) };

const withModel = (status: Partial<RunStatus> = {}) =>
  run({ spec: { model }, status: { provenance: PROBED, ...status } });
const plan = (over: Partial<RunObservation>, seconds = 10) =>
  planRun(seen({ run: withModel(), needsGateway: true, ...over }), runOptions(seconds));
const conditionIn = ({ status }: RunPlan, type: RunConditionType) =>
  status.conditions.find((candidate) => candidate.type === type);
const kinds = ({ children }: RunPlan) => children.map(({ kind }) => kind);

describe("a run's gateway", () => {
  it('is made when the suite is frozen, for only then its folder is on the volume', () => {
    expect(kinds(plan({ suite: null, prepare: job('active') }))).not.toContain('gateway');
    const frozen = plan({});
    expect(kinds(frozen)).toContain('gateway');
    expect(frozen.trials).toEqual([]);
    expect(conditionIn(frozen, 'GatewayReady')).toMatchObject({
      status: 'False',
      reason: 'GatewayUnavailable',
    });
  });

  it('is not made for a run without a model', () => {
    const plain = planRun(seen(), runOptions(10));
    expect(kinds(plain)).not.toContain('gateway');
    expect(conditionIn(plain, 'GatewayReady')).toBeUndefined();
  });

  it('is waited for with the words of its pod, and given up after the start bound', () => {
    const waiting = plan({ gateway: DOWN });
    expect(kinds(waiting)).not.toContain('gateway');
    expect(waiting.status.reason).toBe('GatewayUnavailable: gateway: CrashLoopBackOff');
    expect(conditionIn(waiting, 'Failed')).toBeUndefined();
    const since = withModel({ conditions: [condition('GatewayReady', 'False', 'GatewayUnavailable', 10)] });
    expect(conditionIn(plan({ run: since, gateway: DOWN }, 729), 'Failed')).toBeUndefined();
    expect(conditionIn(plan({ run: since, gateway: DOWN }, 730), 'Failed')).toMatchObject({
      status: 'True',
      reason: 'GatewayUnavailable',
      message: 'gateway: CrashLoopBackOff',
    });
  });

  it('may go away during the run: the run goes on, without new trials', () => {
    const before = withModel({
      provenance: ANSWERED,
      conditions: [condition('SuiteFrozen', 'True'), condition('GatewayReady', 'True')],
    });
    const options = { now: Date.parse(iso(20)), failAfterSeconds: 3600, preflight: true };
    expect(mayStart(before, options)).toBe(true);
    const away = plan({ run: before, gateway: DOWN, trials: [trial('one'), trial('two')] }, 20);
    expect(conditionIn(away, 'GatewayReady')).toMatchObject({ status: 'False', lastTransitionTime: iso(20) });
    expect(conditionIn(away, 'Stalled')).toBeUndefined();
    expect(mayStart(withModel(away.status), options)).toBe(false);

    const stays = plan(
      { run: withModel(away.status), gateway: DOWN, trials: [trial('one'), trial('two')] },
      620,
    );
    expect(conditionIn(stays, 'Stalled')).toMatchObject({ status: 'True', reason: 'GatewayUnavailable' });
    const back = plan(
      { run: withModel(stays.status), gateway: UP, trials: [trial('one'), trial('two')] },
      630,
    );
    expect(conditionIn(back, 'GatewayReady')).toMatchObject({ status: 'True' });
    expect(conditionIn(back, 'Stalled')).toMatchObject({ status: 'False' });
  });

  it('is not there yet for trials where nothing was said of it', () => {
    const fresh = withModel({ provenance: ANSWERED, conditions: [condition('SuiteFrozen', 'True')] });
    expect(mayStart(fresh, { now: Date.parse(iso(20)), failAfterSeconds: 3600, preflight: true })).toBe(
      false,
    );
  });

  it('is removed with the end of the run, and with it what is said of it', () => {
    const over = withModel({
      conditions: [condition('Complete', 'True'), condition('GatewayReady', 'True')],
      completionTime: iso(90),
      scoredRevision: 1,
    });
    const ended = plan({ run: over, gateway: UP, trials: [trial('one', executed)] }, 100);
    expect(ended.removals).toContainEqual({ kind: 'gateway', name: '', uid: 'deployment' });
    expect(conditionIn(ended, 'GatewayReady')).toMatchObject({ status: 'Unknown', reason: 'RunEnded' });
    expect(ended.status.reason).toBeNull();
  });

  it('is not made for scoring alone', () => {
    const scoring = plan({
      run: withModel({ provenance: ANSWERED }),
      trials: [trial('one', executed), trial('two', executed)],
    });
    expect(kinds(scoring)).not.toContain('gateway');
    expect(kinds(scoring)).toContain('round');
  });

  it('is not made for scores that are made anew', () => {
    const again = run({
      spec: { model, scoring: { revision: 2 } },
      status: { provenance: ANSWERED, scoredRevision: 1, conditions: [condition('Complete', 'True')] },
    });
    expect(kinds(plan({ run: again, trials: [trial('one', scored), trial('two', scored)] }))).not.toContain(
      'gateway',
    );
  });
});

describe("a run's model", () => {
  it('is asked before any trial', () => {
    const asking = plan({ gateway: UP, modelAnswer: { state: 'asking' } });
    expect(asking.trials).toEqual([]);
    expect(asking.requeueAt).not.toBeNull();
    expect(conditionIn(asking, 'GatewayReady')).toMatchObject({ status: 'False', reason: 'AskingModel' });
  });

  it('that answered is not asked again', () => {
    const answered = plan({ gateway: UP, modelAnswer: { state: 'answered' } });
    expect(answered.status.provenance).toMatchObject({ modelAnsweredAt: iso(10) });
    expect(answered.trials).toHaveLength(2);
    const later = plan({ run: withModel({ provenance: ANSWERED }), gateway: UP });
    expect(later.status.provenance).toMatchObject({ modelAnsweredAt: iso(5) });
    expect(later.trials).toHaveLength(2);
  });

  it('that refuses ends the run before it began', () => {
    const message = 'the model answered one question with status 401 (wrong key)';
    const modelAnswer = { state: 'refused', reason: 'ModelAuthentication', message } as const;
    const refused = plan({ gateway: UP, modelAnswer });
    expect(refused.trials).toEqual([]);
    expect(conditionIn(refused, 'Failed')).toMatchObject({ status: 'True', reason: 'ModelAuthentication' });
    expect(refused.status.reason).toContain('401');
  });

  it('that does not answer is waited for, says why, and changes nothing from look to look', () => {
    const modelAnswer = { state: 'unavailable', message: 'status 503' } as const;
    const waiting = plan({ gateway: UP, modelAnswer });
    expect(waiting.status.reason).toBe('ModelUnavailable: status 503');
    expect(waiting.trials).toEqual([]);
    const again = plan({ run: withModel(waiting.status), gateway: UP, modelAnswer }, 11);
    expect(again.status).toEqual(waiting.status);
    const late = plan({ run: withModel(waiting.status), gateway: UP, modelAnswer }, 730);
    expect(conditionIn(late, 'Failed')).toMatchObject({ reason: 'ModelUnavailable', message: 'status 503' });
  });
});
