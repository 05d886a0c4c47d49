import type { RunOverrides } from '../../local/run-file.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { applyRun, readDocument } from './apply-run.ts';
import { shown } from './change-run.ts';
import { withCluster } from './connect.ts';
import type { ClusterFlags } from './options.ts';
import { isOver, type RunObject } from './resources.ts';
import { goesOnText, runJson, watchToEnd } from './run-session.ts';

export interface RunCommand {
  readonly flags: ClusterFlags;
  readonly file: string;
  readonly overrides: RunOverrides;
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly json: boolean;
}

/** What `clawbench run` does. */
export async function runAndWatch(command: RunCommand): Promise<ExitCode> {
  const document = await readDocument(command.file, command.overrides);
  return withCluster(command.flags, async (cluster) => {
    const { run, created } = await applyRun(cluster, document, command.dryRun);
    if (command.dryRun) {
      if (command.json) console.log(runJson(run, []));
      else {
        console.log(
          `${shown(run)} would be ${created ? 'created' : 'configured'}: the API server accepts it`,
        );
      }
      return EXIT.DONE;
    }
    console.error(`${shown(run)} ${created ? 'created' : describeOld(run)}`);
    // The namespace may be the file's, which is not the context's.
    const here = { ...cluster, namespace: run.metadata.namespace ?? cluster.namespace };
    if (command.wait) return watchToEnd(here, run, command.json);
    if (command.json) console.log(runJson(run, []));
    else console.log(goesOnText(run, cluster.flags));
    return EXIT.DONE;
  });
}

function describeOld(run: RunObject): string {
  if (isOver(run)) {
    return 'has ended already; to run it anew give another metadata.name, or use clawbench rerun or rescore';
  }
  return run.spec.suspend === true
    ? 'is there already, suspended; clawbench resume lets it go on'
    : 'is there already';
}
