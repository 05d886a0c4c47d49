import { runChildName } from '../../api/names.ts';
import { claimAccess } from '../objects/claim.ts';
import type { PlanDraft } from './plan-draft.ts';
import type { MissingReference, ProbeFacts, RunObservation, RunPlanOptions } from './observation.ts';

/*
 * Everything that comes before the first trial. Each step says what it waits for, has a bound, and fails the run with
 * the last cause when the bound passes.
 */

/** How long the index may take to show after the Job that wrote it completed. */
const INDEX_PATIENCE_MS = 60_000;
/** How long freezing a suite may take, images and scheduling included. */
const PREPARE_PATIENCE_MS = 3_600_000;

/** After how long a claim that was just made is looked for. */
const CLAIM_PATIENCE_MS = 500;

/** Whether what the run names is there. Returns true when nothing is missing. */
export function checkReferences(observation: RunObservation, draft: PlanDraft, now: number): boolean {
  const { invalid, missing, run, claim } = observation;
  if (invalid !== null) {
    draft.set('SuiteFrozen', 'False', 'InvalidSpec', invalid);
    draft.fail('InvalidSpec', invalid);
    return false;
  }
  const refused = claim === null ? null : claimAccess(claim.accessModes).refused;
  if (refused !== null) {
    const message = `claim ${claim?.name ?? ''}: ${refused.message}. ${refused.remedy}`;
    draft.set('SuiteFrozen', 'False', 'ClaimRefused', message);
    draft.fail('ClaimRefused', message);
    return false;
  }
  if (missing.length === 0) return true;
  const message = missing.map(describeMissing).join('; ');
  const deadline = startOf(observation) + run.spec.timeouts.start * 1000;
  draft.set('SuiteFrozen', 'False', 'MissingReference', message);
  if (now >= deadline) draft.fail('MissingReference', message);
  else draft.wakeAt(Math.min(deadline, now + 5000));
  return false;
}

function describeMissing({ kind, name, key, field }: MissingReference): string {
  if (kind === 'StorageClass') {
    return name === ''
      ? `${field}: the cluster has no default StorageClass; name one, or a claim in spec.artifacts`
      : `${field}: there is no StorageClass ${name}`;
  }
  return key === undefined
    ? `${field}: there is no ${kind} ${name} in the run's namespace; create it`
    : `${field}: ${kind} ${name} has no key ${key}`;
}

/** Claim, account and policies. Returns true when trials may be prepared. */
export function setUpChildren(observation: RunObservation, draft: PlanDraft, now: number): boolean {
  const { claim } = observation;
  draft.children.push({ kind: 'worker' }, { kind: 'policies' });
  if (claim === null) {
    draft.children.push({ kind: 'claim' });
    // Claims are not watched, and where the status stays as it is nothing else would make us look again.
    draft.wakeAt(now + CLAIM_PATIENCE_MS);
    return false;
  }
  draft.say({ claimName: claim.name });
  return true;
}

/** Only one node can mount the claim at a time: every pod of the run is bound to the others' node. */
export function isCoLocated(claim: { readonly accessModes: readonly string[] } | null): boolean {
  if (claim === null) return false;
  const access = claimAccess(claim.accessModes);
  return access.refused === null && access.coLocate;
}

/**
 * Whether the runtime's image runs. That it did is remembered by the image's digest in
 * provenance, so that the probe's pod need not stay.
 */
export function probeRuntime(
  observation: RunObservation,
  draft: PlanDraft,
  options: RunPlanOptions,
): boolean {
  const { run, probe } = observation;
  const { preflight, runtimeImage } = options;
  const known = draft.status.provenance?.['runtimeImageDigest'] !== undefined;
  if (known || !preflight.enabled) {
    if (probe !== null && known)
      draft.removals.push({ kind: 'pod', name: runChildName(run.name, 'probe'), uid: probe.uid });
    return true;
  }
  if (probe === null) {
    draft.children.push({ kind: 'probe' });
    return false;
  }
  switch (probe.state) {
    case 'passed':
      draft.say({
        provenance: {
          ...draft.status.provenance,
          runtimeImage,
          runtimeImageDigest: probe.imageDigest ?? 'unavailable',
        },
      });
      return true;
    case 'failed':
      draft.fail(probe.reason, probe.message);
      return false;
    case 'queued':
    case 'starting':
      boundProbe(observation, probe, draft, options);
      return false;
  }
}

function boundProbe(
  { run }: RunObservation,
  probe: ProbeFacts,
  draft: PlanDraft,
  { now, preflight }: RunPlanOptions,
): void {
  const seconds = probe.state === 'queued' ? run.spec.timeouts.queued : preflight.seconds;
  const deadline = probe.since + seconds * 1000;
  if (now < deadline) {
    draft.wakeAt(deadline);
    return;
  }
  const reason = probe.state === 'queued' ? 'ProbeNotScheduled' : 'RuntimeImageUnusable';
  draft.fail(reason, `the probe of the runtime image did not end within ${seconds} s: ${probe.message}`);
}

/** The frozen suite. Returns true when its index is there. */
export function freezeSuite(observation: RunObservation, draft: PlanDraft, now: number): boolean {
  const { prepare, suite } = observation;
  if (suite !== null) {
    draft.set('SuiteFrozen', 'True', 'Frozen', `${suite.scenarios.length} scenarios, ${suite.suiteDigest}`);
    draft.say({ provenance: { ...draft.status.provenance, suiteDigest: suite.suiteDigest } });
    return true;
  }
  // A suite once frozen is never frozen again: its digest is what the run's trials were made of.
  if (draft.holds('SuiteFrozen')) {
    draft.fail('IndexMissing', 'the ConfigMaps with the index of the suite were deleted');
    return false;
  }
  if (prepare === null) {
    draft.children.push({ kind: 'prepare' });
    draft.set('SuiteFrozen', 'False', 'Freezing', 'the suite is being read and frozen');
    return false;
  }
  switch (prepare.state) {
    case 'failed':
      draft.set('SuiteFrozen', 'False', 'PrepareFailed', prepare.said);
      draft.fail('PrepareFailed', prepare.said);
      return false;
    case 'active': {
      const deadline = prepare.createdAt + PREPARE_PATIENCE_MS;
      draft.set('SuiteFrozen', 'False', 'Freezing', prepare.said || 'the suite is being read and frozen');
      if (now >= deadline)
        draft.fail('PrepareDeadline', prepare.said || 'freezing the suite did not end in time');
      else draft.wakeAt(deadline);
      return false;
    }
    case 'complete': {
      const deadline = (prepare.endedAt ?? prepare.createdAt) + INDEX_PATIENCE_MS;
      draft.set('SuiteFrozen', 'False', 'AwaitingIndex', 'the suite is frozen; its index is being read');
      if (now >= deadline) draft.fail('IndexMissing', 'the suite was frozen, but its index is not there');
      else draft.wakeAt(deadline);
      return false;
    }
  }
}

function startOf({ run }: RunObservation): number {
  return Date.parse(run.status.startTime ?? run.createdAt);
}
