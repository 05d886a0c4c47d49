import { describe, expect, it } from 'vitest';
import { planTrial, type TrialPlan } from '../../../src/controller/trial/plan.ts';
import {
  at,
  attempt,
  facts,
  failed,
  iso,
  observation,
  options,
  pending,
  pod,
  reported,
  runningStatus,
  silent,
  status,
  T0,
  TIMEOUTS,
  TRIAL,
} from './builders.ts';

const IDLE: TrialPlan = { status: null, deletions: [], confirm: false, endedAttempt: null, requeueAt: null };

const last = (plan: TrialPlan) => plan.status?.attempts.at(-1);

describe('a trial without a pod', () => {
  it('is left to the scheduler', () => {
    expect(planTrial(observation(), options(0))).toEqual(IDLE);
  });

  it('is left alone when its run is gone', () => {
    expect(planTrial(observation({ run: null, pods: [reported()] }), options(0))).toEqual(IDLE);
  });

  it('is cancelled with its run', () => {
    const plan = planTrial(observation({ run: facts({ abort: 'Cancelled' }) }), options(0));
    expect(plan.status).toMatchObject({ phase: 'Cancelled', outcome: null, reason: 'Cancelled' });
  });
});

describe('a pod that starts', () => {
  it('is written down when both containers run, though nothing was written of it before', () => {
    const plan = planTrial(observation({ pods: [pod()] }), options(3));
    expect(plan.status).toMatchObject({ phase: 'Running', timeouts: TIMEOUTS, notBefore: null });
    expect(last(plan)).toMatchObject({ number: 1, podUID: 'pod-1', startedAt: iso(0), endedAt: null });
  });

  it('is no news once it is written', () => {
    const plan = planTrial(observation({ status: runningStatus(), pods: [pod()] }), options(30));
    expect(plan).toMatchObject({ status: null, deletions: [] });
  });

  it.each([
    ['gated', 'SchedulingGated: held by a queue'],
    ['unschedulable', 'Unschedulable: held by a queue'],
    ['waiting', 'AwaitingScheduler: held by a queue'],
  ] as const)('is Queued when it is %s for longer than 10 s, and says why', (state, reason) => {
    const queued = pending({ scheduling: { state, message: 'held by a queue' } });
    const early = planTrial(observation({ pods: [queued] }), options(9));
    expect(early).toMatchObject({ status: null, requeueAt: at(10) });
    const late = planTrial(observation({ pods: [queued] }), options(10));
    expect(late.status).toMatchObject({ phase: 'Queued', reason });
  });

  it('is bounded by the queued clock from its creation, with the last message of the scheduler', () => {
    const queued = pending({ scheduling: { state: 'unschedulable', message: '0/3 nodes are available' } });
    const plan = planTrial(observation({ pods: [queued] }), options(TIMEOUTS.queued));
    expect(last(plan)).toMatchObject({ class: 'infrastructure', reason: 'QueuedDeadline' });
    expect(plan.status).toMatchObject({
      phase: 'Executed',
      reason: 'QueuedDeadline: Unschedulable: 0/3 nodes are available',
    });
  });

  it('starts its clock when it is scheduled, not when it was created', () => {
    const late = pending({ scheduling: { state: 'scheduled', at: at(5000) } });
    expect(planTrial(observation({ pods: [late] }), options(5005))).toMatchObject({
      status: null,
      requeueAt: at(5010),
    });
    const plan = planTrial(observation({ pods: [late] }), options(5000 + TIMEOUTS.start));
    expect(last(plan)).toMatchObject({ reason: 'StartDeadline' });
  });

  it.each([
    ['InvalidImageName', 0, 'ImagePullFailed'],
    ['ErrImageNeverPull', 0, 'ImagePullFailed'],
    ['ImagePullBackOff', TIMEOUTS.start, 'ImagePullFailed'],
    ['ErrImagePull', TIMEOUTS.start, 'ImagePullFailed'],
    ['CreateContainerConfigError', 60, 'MountFailed'],
    ['ContainerCreating', TIMEOUTS.start, 'StartDeadline'],
  ])('that waits for %s ends after %d s as %s and shows the last cause', (reason, seconds, word) => {
    const stuck = pending({ executor: { state: 'waiting', reason, message: 'because' } });
    const before = planTrial(observation({ pods: [stuck] }), options(seconds - 1));
    expect(before.endedAttempt).toBeNull();
    const plan = planTrial(observation({ pods: [stuck] }), options(seconds));
    expect(last(plan)).toMatchObject({ class: 'infrastructure', reason: word });
    expect(plan.status?.reason).toBe(`${word}: ${reason}: because`);
    expect(plan.status?.phase).toBe('Backoff');
  });

  it('that cannot mount a volume ends early, by the events that alone tell of it', () => {
    const stuck = pending({ executor: { state: 'waiting', reason: 'ContainerCreating', message: '' } });
    const podEvent = { reason: 'FailedMount', message: 'no such volume' };
    const shown = planTrial(observation({ pods: [stuck], podEvent }), options(20));
    expect(shown.status).toMatchObject({ phase: 'Starting', reason: 'FailedMount: no such volume' });
    const plan = planTrial(observation({ pods: [stuck], podEvent }), options(180));
    expect(last(plan)).toMatchObject({ reason: 'MountFailed' });
  });

  it('does not write the same obstacle again and again', () => {
    const stuck = pending({ executor: { state: 'waiting', reason: 'ImagePullBackOff', message: 'b' } });
    const written = runningStatus({ phase: 'Starting', reason: 'ErrImagePull: a' });
    expect(planTrial(observation({ status: written, pods: [stuck] }), options(30)).status).toBeNull();
  });
});

describe('an attempt that ends', () => {
  it('in order is Executed, with what its harness reported', () => {
    const plan = planTrial(observation({ status: runningStatus(), pods: [reported()] }), options(61));
    expect(plan.status).toMatchObject({
      phase: 'Executed',
      decidedBy: 1,
      class: null,
      execution: 'success',
      reason: null,
      usage: { toolCalls: 1 },
    });
    expect(last(plan)).toMatchObject({
      endedAt: iso(60),
      artifacts: { path: `trials/${TRIAL}/attempts/1`, files: 3, bytes: 30, collected: true },
    });
    // Deleted only when the written end is read back.
    expect(plan.deletions).toEqual([]);
  });

  it('needs one write when it began and ended between two looks', () => {
    const plan = planTrial(observation({ pods: [reported()] }), options(61));
    expect(plan.status).toMatchObject({ phase: 'Executed', timeouts: TIMEOUTS });
  });

  it('is decided by the harness container, whatever keeps the pod alive', () => {
    const kept = reported({}, { phase: 'Running' });
    const ended = planTrial(observation({ status: runningStatus(), pods: [kept] }), options(61));
    expect(ended.status?.phase).toBe('Executed');
    // An end well written, but a pod that lives on: it goes, although the attempt may have failed.
    const afterwards = runningStatus({
      phase: 'Executed',
      attempts: [failed(1, 'SetupFailed')],
      decidedBy: 1,
    });
    const plan = planTrial(observation({ status: afterwards, pods: [kept] }), options(62));
    expect(plan.deletions).toEqual([{ name: `${TRIAL}-1`, uid: 'pod-1', gracePeriodSeconds: 90 }]);
  });

  it('well has its pod deleted by UID, badly has it kept for a look', () => {
    const good = runningStatus({ phase: 'Scored', attempts: [attempt({ endedAt: iso(60) })] });
    expect(planTrial(observation({ status: good, pods: [reported()] }), options(70)).deletions).toHaveLength(
      1,
    );
    const bad = runningStatus({ phase: 'Scored', attempts: [failed(1, 'SetupFailed')] });
    expect(planTrial(observation({ status: bad, pods: [reported()] }), options(70)).deletions).toEqual([]);
  });

  it.each([
    ['OOM of the harness', silent('OOMKilled', 137), 'HarnessOutOfMemory', 'infrastructure'],
    ['an old OOM word and SIGTERM', silent('OOMKilled', 143), 'ResultMissing', 'infrastructure'],
    ['silence', silent('Error', 1), 'ResultMissing', 'infrastructure'],
    [
      "the pod's own deadline",
      silent('Error', 137, { reason: 'DeadlineExceeded' }),
      'PodDeadline',
      'infrastructure',
    ],
    ['eviction for its own disk', silent('', 137, { reason: 'Evicted' }), 'DiskLimitEviction', 'agent'],
    [
      'eviction for the node',
      silent('', 137, { reason: 'Evicted', disruption: 'TerminationByKubelet' }),
      'NodePressure',
      'infrastructure',
    ],
    [
      'preemption',
      silent('Error', 143, { disruption: 'PreemptionByScheduler' }),
      'Disrupted',
      'infrastructure',
    ],
    [
      'OOM of the executor, its shim lost',
      silent('Error', 1, {
        executor: { state: 'terminated', reason: 'OOMKilled', exitCode: 137, message: '', finishedAt: null },
      }),
      'OutOfMemory',
      'agent',
    ],
  ])('by %s is %s', (_what, ended, reason, failureClass) => {
    const plan = planTrial(observation({ status: runningStatus(), pods: [ended] }), options(61));
    expect(last(plan)).toMatchObject({ reason, class: failureClass });
  });

  it('with a child that was killed for memory, a living shim and a good end is no failure', () => {
    const ended = {
      ...reported(),
      executor: {
        ...{ state: 'terminated' as const, reason: 'OOMKilled', exitCode: 0, message: '', finishedAt: null },
      },
    };
    const plan = planTrial(observation({ status: runningStatus(), pods: [ended] }), options(61));
    expect(plan.status).toMatchObject({ class: null, phase: 'Executed' });
  });

  it.each([
    ['cut off', '{"v":1,"trial":"smo', 'cut off'],
    ['of another version', '{"v":2}', 'reports in version 2'],
    ['of another pod', JSON.stringify({ ...JSON.parse(messageOf(reported())), podUID: 'other' }), 'of smoke'],
    ['wrong', '{"v":1}', 'is wrong at'],
  ])('with a termination message that is %s is run again, and says so', (_what, message, said) => {
    const ended = reported();
    const harness = { ...ended.harness, message } as typeof ended.harness;
    const plan = planTrial(
      observation({ status: runningStatus(), pods: [{ ...ended, harness }] }),
      options(61),
    );
    expect(plan.status).toMatchObject({ phase: 'Backoff', class: null });
    expect(last(plan)?.reason).toBe('ResultMissing');
    expect(plan.status?.reason).toContain(said);
  });

  it('for the machine waits before the next one, and after the last allowed one stands', () => {
    const ended = reported({ observations: [{ kind: 'setup_failed', message: 'x' }], collected: false });
    const first = planTrial(observation({ status: runningStatus(), pods: [ended] }), options(61));
    expect(first.status).toMatchObject({ phase: 'Backoff', notBefore: iso(61 + 7.5), decidedBy: null });
    const attempts = [failed(1, 'SetupFailed'), failed(2, 'SetupFailed'), attempt({ number: 3 })];
    const third = reported(
      { observations: [{ kind: 'setup_failed', message: 'x' }], collected: false },
      { attempt: 3 },
    );
    const plan = planTrial(observation({ status: runningStatus({ attempts }), pods: [third] }), options(61));
    expect(plan.status).toMatchObject({ phase: 'Executed', class: 'infrastructure', decidedBy: 3 });
  });
});

function messageOf(ended: ReturnType<typeof reported>): string {
  return ended.harness.state === 'terminated' ? ended.harness.message : '';
}

describe('a pod that is gone', () => {
  it('is not Lost before the API server itself said so', () => {
    const plan = planTrial(observation({ status: runningStatus() }), options(61));
    expect(plan).toEqual({ ...IDLE, confirm: true });
  });

  it('is Lost then, and run again', () => {
    const gone = observation({ status: runningStatus(), confirmedGone: true });
    const plan = planTrial(gone, options(61));
    expect(last(plan)).toMatchObject({ reason: 'PodLost', class: 'infrastructure', counted: true });
    expect(plan.status?.phase).toBe('Backoff');
  });

  it('is judged by its last state where the cache saw it vanish', () => {
    const vanished = [reported({}, { deletedBy: at(62) })];
    const plan = planTrial(observation({ status: runningStatus(), vanished }), options(63));
    expect(plan.status).toMatchObject({ phase: 'Executed', class: null });
  });

  it('uses up its number although nothing was written of it', () => {
    const plan = planTrial(observation({ vanished: [pending()] }), options(5));
    expect(last(plan)).toMatchObject({ number: 1, reason: 'PodLost' });
  });

  it('is another pod when its UID is another one: that one goes, the attempt is lost', () => {
    const other = pod({ uid: 'impostor' });
    const plan = planTrial(observation({ status: runningStatus(), pods: [other] }), options(61));
    expect(plan.deletions).toMatchObject([{ uid: 'impostor' }]);
    expect(plan.confirm).toBe(true);
  });

  it('may hang in deletion on a dead node: it is forced only after its grace period, and only then replaced', () => {
    const terminating = pod({ deletedBy: at(100), disruption: 'DeletionByTaintManager' });
    const waits = planTrial(observation({ status: runningStatus(), pods: [terminating] }), options(150));
    expect(waits).toMatchObject({ status: null, deletions: [], requeueAt: at(161) });
    const forced = planTrial(observation({ status: runningStatus(), pods: [terminating] }), options(161));
    expect(forced).toMatchObject({ status: null, deletions: [{ uid: 'pod-1', gracePeriodSeconds: 0 }] });
    const after = planTrial(observation({ status: runningStatus(), vanished: [terminating] }), options(162));
    expect(last(after)).toMatchObject({ reason: 'Disrupted' });
  });

  it('whose container was started again is not believed', () => {
    const plan = planTrial(
      observation({ status: runningStatus(), pods: [pod({ restarted: true })] }),
      options(61),
    );
    expect(plan.deletions).toMatchObject([{ uid: 'pod-1', gracePeriodSeconds: 90 }]);
    expect(plan.status).toBeNull();
  });
});

describe('a run that is cancelled or deleted', () => {
  const abort = facts({ abort: 'Cancelled' });

  it('ends live pods with the time to collect', () => {
    const plan = planTrial(observation({ status: runningStatus(), run: abort, pods: [pod()] }), options(20));
    expect(plan).toMatchObject({ status: null, deletions: [{ uid: 'pod-1', gracePeriodSeconds: 90 }] });
  });

  it('writes an attempt down before its pod goes', () => {
    const plan = planTrial(observation({ run: abort, pods: [pending()] }), options(2));
    expect(last(plan)).toMatchObject({ number: 1, podUID: 'pod-1' });
    expect(plan.deletions).toHaveLength(1);
  });

  it('makes of what was interrupted a Cancelled trial, with what was collected', () => {
    const ended = reported({ killReason: 'interrupted', exitCode: null }, { deletedBy: at(110) });
    const plan = planTrial(observation({ status: runningStatus(), run: abort, pods: [ended] }), options(61));
    expect(plan.status).toMatchObject({ phase: 'Cancelled', decidedBy: null, outcome: null });
    expect(last(plan)).toMatchObject({ reason: 'Cancelled', artifacts: { files: 3 } });
  });

  it('takes what had ended in order for what it is', () => {
    const plan = planTrial(
      observation({ status: runningStatus(), run: abort, pods: [reported()] }),
      options(61),
    );
    expect(plan.status).toMatchObject({ phase: 'Executed', class: null });
  });
});

describe('an attempt that somebody else ends', () => {
  it('is Disrupted, with a bound of its own', () => {
    const ended = reported({ killReason: 'interrupted', exitCode: null }, { deletedBy: at(110) });
    const plan = planTrial(observation({ status: runningStatus(), pods: [ended] }), options(61));
    expect(last(plan)).toMatchObject({ reason: 'Disrupted', counted: true });
    const attempts = [
      ...Array.from({ length: 10 }, (_, i) => failed(i + 1, 'Disrupted')),
      attempt({ number: 11 }),
    ];
    const eleventh = reported({ killReason: 'interrupted', exitCode: null }, { attempt: 11 });
    const end = planTrial(
      observation({ status: runningStatus({ attempts }), pods: [eleventh] }),
      options(61),
    );
    expect(end.status?.phase).toBe('Executed');
  });

  it('is PodDeadline when its own bounds were passed', () => {
    const ended = reported({ killReason: 'interrupted' }, { reason: 'DeadlineExceeded', phase: 'Failed' });
    const plan = planTrial(observation({ status: runningStatus(), pods: [ended] }), options(61));
    expect(last(plan)).toMatchObject({ reason: 'PodDeadline' });
  });

  it('is ended by the controller when harness and kubelet both keep no bound', () => {
    const seconds = TIMEOUTS.start + TIMEOUTS.wall + TIMEOUTS.collect + 150 + 120;
    const running = observation({ status: runningStatus(), pods: [pod()] });
    expect(planTrial(running, options(seconds - 1)).deletions).toEqual([]);
    expect(planTrial(running, options(seconds)).deletions).toHaveLength(1);
  });
});

describe('a trial that is open again', () => {
  it('adopts only the pod of the next attempt, and leaves those of ended ones', () => {
    const reopened = status({ attempts: [failed(1, 'SetupFailed')], rerunRevision: 1 });
    const plan = planTrial(
      observation({ status: reopened, pods: [reported(), pod({ attempt: 2, createdAt: T0 + 1 })] }),
      options(70),
    );
    expect(last(plan)).toMatchObject({ number: 2, rerunRevision: 1, endedAt: null });
    expect(plan.deletions).toEqual([]);
  });
});
