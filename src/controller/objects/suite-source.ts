import { posix } from 'node:path';
import type { Volume, VolumeMount } from './kubernetes.ts';
import type { BenchmarkRunSpec } from '../../api/benchmark-run.ts';
import { InvalidInputError } from '../../api/errors.ts';
import { MOUNTS } from '../../api/pod-contract.ts';

/** The key of a ConfigMap that holds a suite. */
export const SUITE_ARCHIVE = 'suite.tar.gz';
const NAME = 'suite';

export interface SuiteMount {
  readonly volumes: Volume[];
  readonly mounts: VolumeMount[];
  /** Absolute inside the container; null is the built-in suite. */
  readonly suitePath: string | null;
  readonly archive: boolean;
}

/**
 * How a container comes to read a suite.
 *
 * @param field of the suite, for messages, e.g. `spec.suite`
 * @throws InvalidInputError when a path leads out of its source
 */
export function suiteMount(suite: BenchmarkRunSpec['suite'], field: string): SuiteMount {
  const { persistentVolumeClaim: claim, configMap, image } = suite;
  const mounts: VolumeMount[] = [{ name: NAME, mountPath: MOUNTS.suite, readOnly: true }];
  if (claim !== undefined) {
    return {
      volumes: [{ name: NAME, persistentVolumeClaim: { claimName: claim.claimName } }],
      mounts,
      suitePath: inside(claim.path, `${field}.persistentVolumeClaim.path`),
      archive: false,
    };
  }
  if (configMap !== undefined) {
    const items = [{ key: SUITE_ARCHIVE, path: SUITE_ARCHIVE }];
    return {
      volumes: [{ name: NAME, configMap: { name: configMap.name, items } }],
      mounts,
      suitePath: posix.join(MOUNTS.suite, SUITE_ARCHIVE),
      archive: true,
    };
  }
  if (image !== undefined) {
    const { reference, pullPolicy } = image;
    return {
      volumes: [{ name: NAME, image: { reference, ...(pullPolicy === undefined ? {} : { pullPolicy }) } }],
      mounts,
      suitePath: inside(image.path, `${field}.image.path`),
      archive: false,
    };
  }
  return { volumes: [], mounts: [], suitePath: null, archive: false };
}

/** Below the mount and nowhere else: beside it lie other runs' volumes. */
function inside(path: string | undefined, field: string): string {
  const joined = posix.join(MOUNTS.suite, path ?? '.').replace(/\/$/, '');
  if (joined === MOUNTS.suite || joined.startsWith(`${MOUNTS.suite}/`)) return joined;
  throw new InvalidInputError({
    field,
    message: `${JSON.stringify(path)} leads out of the suite's source`,
    remedy: 'Name a folder inside it, without "..".',
  });
}
