import type { Command } from 'commander';
import { FIELD_MANAGERS } from '../../api/pod-contract.ts';
import { publishRound } from '../../pods/score-round/publish-round.ts';
import { scoreRound } from '../../pods/score-round/score-round.ts';
import { endOnSigterm } from '../end-on-sigterm.ts';
import { withClusterClient } from '../in-cluster-client.ts';
import { shareWithVolumeGroup } from '../volume-umask.ts';

/** `clawbench score-round`: the containers of a score round's Job (docs/reference/pods.md). */
export function registerScoreRoundCommand(program: Command): void {
  const round = program.command('score-round', { hidden: true }).description("inside a score round's Job");
  round
    .command('score')
    .description('grade the trials of the round')
    .action(async () => {
      endOnSigterm();
      shareWithVolumeGroup();
      console.log(JSON.stringify(await scoreRound(process.env, () => new Date())));
    });
  round
    .command('publish')
    .description('write the scores of the round to volume and API')
    .action(async () => {
      endOnSigterm();
      shareWithVolumeGroup();
      const report = await withClusterClient(FIELD_MANAGERS.publish, (client) =>
        publishRound(process.env, client, (line) => console.error(line)),
      );
      console.log(JSON.stringify(report));
    });
}
