import { EXIT, type ExitCode } from '../exit-codes.ts';
import { changeRun, type RunChange } from './change-run.ts';
import { withCluster } from './connect.ts';
import type { ClusterFlags } from './options.ts';
import type { RunObject } from './resources.ts';
import { runJson, watchToEnd } from './run-session.ts';

export interface ChangeCommand {
  readonly flags: ClusterFlags;
  readonly name: string;
  readonly plan: (run: RunObject) => RunChange;
  /** Follow the run to its end afterwards. */
  readonly watch: boolean;
  readonly json: boolean;
}

/** Changes a run and says what that means. */
export async function changeAndSay({ flags, name, plan, watch, json }: ChangeCommand): Promise<ExitCode> {
  return withCluster(flags, async (cluster) => {
    const { run, change } = await changeRun(cluster, name, plan);
    if (watch && change.kind === 'patch') {
      console.error(change.said);
      return watchToEnd(cluster, run, json);
    }
    console.log(json ? runJson(run, []) : change.said);
    return EXIT.DONE;
  });
}
