import type { JobDraft, PodDraft, PodSpec } from './kubernetes.ts';
import type { Component } from '../../api/names.ts';
import { runChildLabels, runChildMetadata } from '../../api/run-children.ts';
import { CLOSED_POD, pullSecrets } from './containers.ts';
import type { ObjectsConfig, RunContext } from './context.ts';
import { podSecurity } from './security.ts';

type PodParts = Pick<PodSpec, 'containers' | 'initContainers' | 'volumes'> & Partial<PodSpec>;

/** Specification of a pod of the operator's own programs. */
export function operatorPodSpec(config: Pick<ObjectsConfig, 'imagePullSecrets'>, parts: PodParts): PodSpec {
  return { ...CLOSED_POD, ...pullSecrets(config), securityContext: podSecurity(), ...parts };
}

/** A pod that runs once. */
export function oncePod(run: RunContext, name: string, component: Component, spec: PodSpec): PodDraft {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: runChildMetadata(run, name, component),
    spec: { restartPolicy: 'Never', ...spec },
  };
}

/** A Job of one pod. */
export function onceJob(
  run: RunContext,
  job: {
    readonly name: string;
    readonly component: Component;
    readonly backoffLimit: number;
    /** Seconds of the whole Job, from its first pod on. */
    readonly deadlineSeconds: number;
    readonly pod: PodSpec;
  },
): JobDraft {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: runChildMetadata(run, job.name, job.component),
    spec: {
      backoffLimit: job.backoffLimit,
      activeDeadlineSeconds: job.deadlineSeconds,
      completions: 1,
      parallelism: 1,
      // Two pods of one Job must never write at once.
      podReplacementPolicy: 'Failed',
      template: {
        metadata: { labels: runChildLabels(run, job.component) },
        spec: { restartPolicy: 'Never', ...job.pod },
      },
    },
  };
}
