import { ensurePrograms } from '../../hack/devcluster/build/go-build.ts';
import { API_SERVER_MODULES } from '../../hack/devcluster/build/modules.ts';
import { ensurePackages } from '../../hack/devcluster/system/packages.ts';

/** Builds what the tests start before the first of them runs: a build takes longer than any test may. */
export default async function setup(): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  await ensurePackages(say);
  await ensurePrograms([...API_SERVER_MODULES, 'helm'], say);
}
