import { InfrastructureError, InvalidInputError } from '../../api/errors.ts';
import type { RerunnableClass } from '../../api/vocabulary.ts';
import { isConflict } from '../../kube/errors.ts';
import { getRun, type Cluster } from './connect.ts';
import { isOver, RUN_RESOURCE, type RunObject } from './resources.ts';

/** What is to be written into a run's spec, or why nothing is. */
export type RunChange =
  | { readonly kind: 'patch'; readonly spec: object; readonly said: string }
  | { readonly kind: 'nothing'; readonly said: string };

export function planSuspend(run: RunObject): RunChange {
  if (isOver(run)) return nothing(run, 'has ended; there is nothing to suspend');
  if (run.spec.suspend === true) return nothing(run, 'is suspended already');
  return patch(run, { suspend: true }, 'starts nothing new; what runs ends in order');
}

export function planResume(run: RunObject): RunChange {
  if (isOver(run)) return nothing(run, 'has ended; there is nothing to resume');
  if (run.spec.suspend !== true) return nothing(run, 'is not suspended');
  return patch(run, { suspend: false }, 'goes on');
}

export function planCancel(run: RunObject): RunChange {
  if (isOver(run)) return nothing(run, 'has ended; there is nothing to cancel');
  if (run.spec.cancel === true) return nothing(run, 'is being cancelled already');
  return patch(
    run,
    { cancel: true },
    'is cancelled: what runs is killed and collected, the rest never starts',
  );
}

/**
 * @param suite suite whose checks grade from now on; undefined leaves it as it is
 */
export function planRescore(run: RunObject, suite: object | undefined): RunChange {
  const revision = (run.spec.scoring?.revision ?? 1) + 1;
  return patch(
    run,
    // A merge patch would mix the sources of two suites: what the new one does not have is taken away.
    { scoring: { revision, ...(suite === undefined ? {} : { suite: { ...NO_SOURCE, ...suite } }) } },
    `is scored again (scoring.revision ${revision}); earlier scores are kept`,
  );
}

const NO_SOURCE = { builtin: null, persistentVolumeClaim: null, configMap: null, image: null };

export function planRerun(
  run: RunObject,
  classes: readonly RerunnableClass[],
  scenarioIds: readonly string[],
): RunChange {
  const revision = (run.spec.rerun?.revision ?? 0) + 1;
  return patch(
    run,
    { rerun: { revision, classes, scenarioIds } },
    `runs failures of class ${classes.join(', ')} again (rerun.revision ${revision}); earlier attempts are kept`,
  );
}

/** Others who write at the same time win a few times at most. */
const TRIES = 5;

/**
 * Plans a change on the newest state of a run and writes it; where somebody wrote meanwhile, plans anew.
 *
 * @returns the run after the change
 * @throws InvalidInputError when there is no such run, what the API server refuses as ApiStatusError
 */
export async function changeRun(
  cluster: Cluster,
  name: string,
  plan: (run: RunObject) => RunChange,
  dryRun = false,
): Promise<{ readonly run: RunObject; readonly change: RunChange }> {
  for (let attempt = 1; ; attempt += 1) {
    const run = await getRun(cluster, name);
    if (run.metadata.deletionTimestamp !== undefined) {
      throw new InvalidInputError({
        message: `${shown(run)} is being deleted`,
        remedy: 'Wait, or choose another run.',
      });
    }
    const change = plan(run);
    if (change.kind === 'nothing') return { run, change };
    try {
      const changed = await cluster.client.patch(
        RUN_RESOURCE,
        run.metadata,
        {
          type: 'merge',
          body: { metadata: { resourceVersion: run.metadata.resourceVersion }, spec: change.spec },
        },
        { dryRun },
      );
      return { run: changed, change };
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt === TRIES) {
        throw new InfrastructureError(
          'Conflict',
          `${shown(run)} is being changed by others all the time; try again`,
          {
            cause: error,
          },
        );
      }
    }
  }
}

function patch(run: RunObject, spec: object, what: string): RunChange {
  return { kind: 'patch', spec, said: `${shown(run)} ${what}` };
}

function nothing(run: RunObject, why: string): RunChange {
  return { kind: 'nothing', said: `${shown(run)} ${why}` };
}

/** `namespace/name` of a run. */
export function shown(run: RunObject): string {
  return `${run.metadata.namespace ?? ''}/${run.metadata.name}`;
}

/**
 * A suite for `rescore --suite`: `builtin`, `pvc:CLAIM[/PATH]`, `configmap:NAME` or `image:REFERENCE[#PATH]`.
 *
 * @throws InvalidInputError for anything else
 */
export function parseSuiteSource(text: string): object {
  if (text === 'builtin') return { builtin: {} };
  const [, kind, rest = ''] = /^(pvc|configmap|image):(.+)$/.exec(text) ?? [];
  switch (kind as 'pvc' | 'configmap' | 'image' | undefined) {
    case 'pvc': {
      const [claimName, ...path] = rest.split('/');
      return { persistentVolumeClaim: { claimName, ...(path.length === 0 ? {} : { path: path.join('/') }) } };
    }
    case 'configmap':
      return { configMap: { name: rest } };
    case 'image': {
      const [reference, path] = rest.split('#', 2);
      return { image: { reference, ...(path === undefined ? {} : { path }) } };
    }
    case undefined:
      throw new InvalidInputError({
        field: '--suite',
        message: `${JSON.stringify(text)} names no suite`,
        remedy: 'Give builtin, pvc:CLAIM/PATH, configmap:NAME or image:REFERENCE#PATH.',
      });
  }
}
