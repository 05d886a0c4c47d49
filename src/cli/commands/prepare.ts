import type { Command } from 'commander';
import { FIELD_MANAGERS } from '../../api/pod-contract.ts';
import { freezeRun } from '../../pods/prepare/freeze-run.ts';
import { publishIndex } from '../../pods/prepare/publish-index.ts';
import { endOnSigterm } from '../end-on-sigterm.ts';
import { withClusterClient } from '../in-cluster-client.ts';
import { shareWithVolumeGroup } from '../volume-umask.ts';

/** `clawbench prepare`: the containers of a run's prepare Job (docs/reference/pods.md). */
export function registerPrepareCommand(program: Command): void {
  const prepare = program.command('prepare', { hidden: true }).description('inside a prepare Job');
  prepare
    .command('freeze')
    .description("freeze the run's suite on its volume")
    .action(async () => {
      endOnSigterm();
      shareWithVolumeGroup();
      console.log(JSON.stringify(await freezeRun(process.env)));
    });
  prepare
    .command('publish-index')
    .description("make the ConfigMaps of the suite's index")
    .action(async () => {
      endOnSigterm();
      const report = await withClusterClient(FIELD_MANAGERS.publish, (client) =>
        publishIndex(process.env, client),
      );
      console.log(JSON.stringify(report));
    });
}
