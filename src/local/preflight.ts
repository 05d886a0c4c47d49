import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { InvalidInputError } from '../api/errors.ts';
import { builtinSuiteRoot } from '../suite/load.ts';

/**
 * Where the run's suite lies on this machine.
 *
 * @param suitePath `--suite`, which stands in for a source that only a cluster has
 * @throws InvalidInputError when such a source is declared and no path given
 */
export function suiteRootOf(spec: BenchmarkRunSpec, suitePath: string | undefined, file: string): string {
  if (suitePath !== undefined) return suitePath;
  if (spec.suite.builtin !== undefined) return builtinSuiteRoot();
  throw new InvalidInputError({
    file,
    field: 'spec.suite',
    message: 'this source of a suite exists in a cluster only',
    remedy: 'Give the folder of the suite on this machine with --suite.',
  });
}

/** Fields of a spec that mean nothing on one machine; people are told instead of wondering. */
export function ignoredFields(spec: BenchmarkRunSpec): string[] {
  const given: readonly (readonly [string, boolean])[] = [
    [
      'artifacts',
      spec.artifacts.persistentVolumeClaim !== undefined || spec.artifacts.volumeClaimTemplate !== undefined,
    ],
    ['network', spec.network.egress !== 'ModelOnly'],
    ['queueName', spec.queueName !== undefined],
    ['runtime.podTemplate', spec.runtime.podTemplate !== undefined],
    ['runtime.image', spec.runtime.image !== undefined],
    ['scoring.resources', spec.scoring.resources !== undefined],
    ['ttlSecondsAfterFinished', spec.ttlSecondsAfterFinished !== undefined],
    ['model', spec.runtime.id === 'scripted' && spec.model !== undefined],
  ];
  return given.filter(([, isGiven]) => isGiven).map(([field]) => `spec.${field}`);
}
