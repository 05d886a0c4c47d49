import type { OwnerReference, PersistentVolumeClaimDraft } from './kubernetes.ts';
import { z } from 'zod';
import { InvalidInputError } from '../../api/errors.ts';
import { runChildName } from '../../api/names.ts';
import { runChildLabels, runOwnerReference } from '../../api/run-children.ts';
import type { ObjectsConfig, RunContext } from './context.ts';

const FIELD = 'spec.artifacts.volumeClaimTemplate';

/** What of a claim a run may set; the rest is checked by the API server. */
const templateSchema = z.strictObject({
  metadata: z
    .strictObject({
      labels: z.record(z.string(), z.string()).default({}),
      annotations: z.record(z.string(), z.string()).default({}),
    })
    .prefault({}),
  spec: z.looseObject({
    accessModes: z.array(z.string()).min(1).exactOptional(),
    resources: z.looseObject({ requests: z.looseObject({ storage: z.string() }) }).exactOptional(),
  }),
});

/** Name of the claim that holds the run's artifacts: the user's, or the run's own. */
export function claimName(run: Pick<RunContext, 'name' | 'spec'>): string {
  return run.spec.artifacts.persistentVolumeClaim?.claimName ?? runChildName(run.name, 'artifacts');
}

/**
 * Owner references of the run's own claim: it goes with the run until something was collected; after that only
 * when the run does not retain it.
 */
export function claimOwnerReferences(run: RunContext, collected: boolean): OwnerReference[] {
  return collected && run.spec.artifacts.retain ? [] : [runOwnerReference(run)];
}

/**
 * The run's own claim, from its template over the installation's defaults; null where the user brings one, which
 * is never made, owned or emptied.
 *
 * @throws InvalidInputError for a template that is none, or that asks for ReadWriteOncePod
 */
export function runClaim(
  run: RunContext,
  config: Pick<ObjectsConfig, 'defaultStorage'>,
): PersistentVolumeClaimDraft | null {
  const { persistentVolumeClaim, volumeClaimTemplate } = run.spec.artifacts;
  if (persistentVolumeClaim !== undefined) return null;
  const { size, storageClassName, accessModes } = config.defaultStorage;
  const defaults = {
    accessModes: [...accessModes],
    resources: { requests: { storage: size } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
  const { metadata, spec } = readTemplate(volumeClaimTemplate ?? { spec: {} });
  const access = claimAccess(spec.accessModes ?? defaults.accessModes);
  if (access.refused !== null) {
    throw new InvalidInputError({ field: `${FIELD}.spec.accessModes`, ...access.refused });
  }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(run),
      namespace: run.namespace,
      labels: { ...metadata.labels, ...runChildLabels(run) },
      ...(Object.keys(metadata.annotations).length === 0 ? {} : { annotations: metadata.annotations }),
      ownerReferences: claimOwnerReferences(run, false),
    },
    spec: { ...defaults, ...spec },
  };
}

export type ClaimAccess =
  | { readonly refused: null; readonly coLocate: boolean }
  | { readonly refused: { readonly message: string; readonly remedy: string } };

/** What the access modes of a claim, a user's or the run's own, mean for the pods that mount it. */
export function claimAccess(accessModes: readonly string[]): ClaimAccess {
  if (accessModes.includes('ReadWriteMany')) return { refused: null, coLocate: false };
  if (accessModes.includes('ReadWriteOnce')) return { refused: null, coLocate: true };
  const modes = accessModes.join(', ');
  return {
    refused: {
      message: `a claim of ${modes === '' ? 'no access mode' : modes} cannot be written by the several pods of a run`,
      remedy: 'Use a claim with ReadWriteMany, or with ReadWriteOnce, which binds the pods to one node.',
    },
  };
}

function readTemplate(template: unknown): z.infer<typeof templateSchema> {
  const parsed = templateSchema.safeParse(template);
  if (parsed.success) return parsed.data;
  const [first, ...rest] = parsed.error.issues.map((issue) => ({
    field: [FIELD, ...issue.path].join('.'),
    message: issue.message,
    remedy: 'Write it as in a StatefulSet: metadata with labels and annotations, and spec of a claim.',
  }));
  if (first === undefined) throw parsed.error;
  throw new InvalidInputError([first, ...rest]);
}
