import type { Affinity, PodSecurityContext, Toleration } from './kubernetes.ts';
import { z } from 'zod';
import type { RuntimeSpec } from '../../api/benchmark-run.ts';
import { InvalidInputError, type InputProblem } from '../../api/errors.ts';
import { LABELS, runLabel } from '../../api/names.ts';
import { MANAGED_BY } from '../../api/run-children.ts';
import type { ClaimRef, RunContext } from './context.ts';

/** Label by which Kueue finds the queue of a pod. */
export const QUEUE_LABEL = 'kueue.x-k8s.io/queue-name';
const OWN_PREFIX = 'clawbench.dev/';
const FIELD = 'spec.runtime.podTemplate';

/** Fields of a pod's security context that a run may set. The others hold the pod's isolation and the volume's group. */
const securityContextSchema = z.strictObject({
  runAsUser: z.int().min(0).optional(),
  supplementalGroups: z.array(z.int().min(1)).optional(),
  supplementalGroupsPolicy: z.enum(['Merge', 'Strict']).optional(),
  seLinuxOptions: z.record(z.string(), z.string()).optional(),
  sysctls: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
});

const affinitySchema = z.strictObject({
  nodeAffinity: z.record(z.string(), z.unknown()).optional(),
  podAffinity: affinityTerms().optional(),
  podAntiAffinity: affinityTerms().optional(),
});

function affinityTerms() {
  const terms = z.array(z.record(z.string(), z.unknown()));
  return z.strictObject({
    requiredDuringSchedulingIgnoredDuringExecution: terms.optional(),
    preferredDuringSchedulingIgnoredDuringExecution: terms.optional(),
  });
}

/** Where a pod may run. */
export interface Placement {
  readonly nodeSelector?: Record<string, string>;
  readonly tolerations?: Toleration[];
  readonly affinity?: Affinity;
  readonly runtimeClassName?: string;
}

/** A run's podTemplate, checked. */
export interface PodTemplate {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly placement: Placement;
  readonly securityContext: PodSecurityContext;
}

/**
 * Reads `spec.runtime.podTemplate`: what it may set, and nothing else. Volumes, containers, service accounts and
 * the host's namespaces are not part of it by its schema; labels, annotations and the security context are
 * looked through here, because they could undo what isolates a trial.
 *
 * @throws InvalidInputError with every problem
 */
export function readPodTemplate(template: RuntimeSpec['podTemplate']): PodTemplate {
  const { labels = {}, annotations = {}, nodeSelector, tolerations, runtimeClassName } = template ?? {};
  const problems: InputProblem[] = [];
  for (const key of Object.keys(labels)) {
    // Network policies and the controller's own look-ups select by these.
    if (!key.startsWith(OWN_PREFIX) && key !== LABELS.COMPONENT && key !== MANAGED_BY.key) continue;
    problems.push({
      field: `${FIELD}.labels`,
      message: `label ${key} belongs to the operator`,
      remedy: 'Choose another key.',
    });
  }
  if (labels[QUEUE_LABEL] !== undefined) {
    problems.push({
      field: `${FIELD}.labels`,
      message: `label ${QUEUE_LABEL} is set from spec.queueName`,
      remedy: 'Set spec.queueName instead.',
    });
  }
  for (const key of Object.keys(annotations)) {
    if (!key.startsWith(OWN_PREFIX)) continue;
    problems.push({
      field: `${FIELD}.annotations`,
      message: `annotation ${key} belongs to the operator`,
      remedy: 'Choose another key.',
    });
  }
  const security = securityContextSchema.safeParse(template?.securityContext ?? {});
  if (!security.success) problems.push(...problemsOf(security.error, `${FIELD}.securityContext`));
  const affinity = affinitySchema.safeParse(template?.affinity ?? {});
  if (!affinity.success) problems.push(...problemsOf(affinity.error, `${FIELD}.affinity`));
  const [first, ...rest] = problems;
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
  return {
    labels,
    annotations,
    securityContext: (security.data ?? {}) as PodSecurityContext,
    placement: {
      ...(nodeSelector === undefined ? {} : { nodeSelector: { ...nodeSelector } }),
      // The API server checks the parts of these; their shape is Kubernetes' own.
      ...(tolerations === undefined ? {} : { tolerations: tolerations as Toleration[] }),
      ...(template?.affinity === undefined ? {} : { affinity: (affinity.data ?? {}) as unknown as Affinity }),
      ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
    },
  };
}

/** Placement of pods that mount the claim: bound to each other's node where only one node at a time can mount it. */
export function onClaimsNode(
  run: Pick<RunContext, 'name'>,
  claim: ClaimRef,
  placement: Placement,
): Placement {
  if (!claim.coLocate) return placement;
  const podAffinity = placement.affinity?.podAffinity ?? {};
  return {
    ...placement,
    affinity: {
      ...placement.affinity,
      podAffinity: {
        ...podAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: [
          ...(podAffinity.requiredDuringSchedulingIgnoredDuringExecution ?? []),
          {
            topologyKey: 'kubernetes.io/hostname',
            labelSelector: {
              matchLabels: { [LABELS.RUN]: runLabel(run.name) },
              // The probe mounts no volume, so where it happens to run must bind nobody.
              matchExpressions: [{ key: LABELS.COMPONENT, operator: 'NotIn', values: ['probe'] }],
            },
          },
        ],
      },
    },
  };
}

/**
 * Placement of the operator's own pods that mount the claim. Where they share a node with the trials, what the run
 * says about nodes holds for them too: else `prepare` might bind the volume to a node on which no trial may run.
 */
export function operatorPlacement(run: RunContext, claim: ClaimRef): Placement {
  if (!claim.coLocate) return {};
  const { runtimeClassName: _, ...placement } = readPodTemplate(run.spec.runtime.podTemplate).placement;
  return onClaimsNode(run, claim, placement);
}

function problemsOf(error: z.ZodError, field: string): InputProblem[] {
  return error.issues.map((issue) => ({
    field: [field, ...issue.path].join('.'),
    message: issue.message,
    remedy: 'docs/reference/run-objects.md lists what a run may set.',
  }));
}
