import { InvalidInputError } from '../../api/errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { getRun, listTrials, withCluster } from './connect.ts';
import type { ClusterFlags } from './options.ts';
import { RUN_RESOURCE } from './resources.ts';
import { plain, runJson, watchToEnd } from './run-session.ts';
import { runTable, runText } from './run-tables.ts';

export interface StatusCommand {
  readonly flags: ClusterFlags;
  readonly name: string | undefined;
  readonly watch: boolean;
  readonly json: boolean;
}

/** What `clawbench status` does. */
export async function printStatus({ flags, name, watch, json }: StatusCommand): Promise<ExitCode> {
  if (watch && name === undefined) {
    throw new InvalidInputError({
      field: '--watch',
      message: 'needs a run',
      remedy: 'Name the run to watch.',
    });
  }
  return withCluster(flags, async (cluster) => {
    if (name === undefined) {
      const { items } = await cluster.client.list(RUN_RESOURCE, { namespace: cluster.namespace });
      console.log(json ? JSON.stringify({ runs: items.map(plain) }, null, 2) : runTable(items, new Date()));
      return EXIT.DONE;
    }
    const run = await getRun(cluster, name);
    if (watch) return watchToEnd(cluster, run, json);
    const trials = await listTrials(cluster, run);
    console.log(json ? runJson(run, trials) : runText(run, trials, new Date()));
    return EXIT.DONE;
  });
}
