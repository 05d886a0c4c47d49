import type { Command } from 'commander';
import { addClusterOptions, type ClusterFlags } from '../cluster/options.ts';
import { addReaderOptions, type ReaderFlags } from '../cluster/reader-options.ts';

interface ArtifactsFlags extends ClusterFlags, ReaderFlags {
  readonly output: string;
  readonly withAnswers: boolean;
  readonly json: boolean;
}

/** `clawbench artifacts`: a run's folder, from the cluster's volume to this machine. */
export function registerArtifactsCommand(program: Command): void {
  const command = program
    .command('artifacts')
    .description(
      "copy a run's folder from the cluster, verified; the same command goes on where it was cut off",
    )
    .argument('<run>', 'name of the BenchmarkRun')
    .requiredOption('-o, --output <dir>', 'folder to copy to; new, or of an earlier copy of the same run')
    .option('--with-answers', "also copy the suite's hidden checks and standard answers", false)
    .option('--json', 'print what was copied as JSON', false)
    .addHelpText(
      'after',
      `
Examples:
  clawbench artifacts smoke -o smoke                 everything but the suite's answers
  clawbench report smoke && clawbench show smoke     the copy is a folder like one of clawbench local
  clawbench artifacts smoke -o smoke --with-answers  suite/hidden and suite/scripted too

Every file is compared with the digest made on the volume, every attempt with the manifest its harness wrote.
Exit codes: 0 all is as it was recorded, 1 something is not (each difference is named), 2, 3, 130 as of clawbench run.`,
    );
  addReaderOptions(addClusterOptions(command)).action(async (name: string, flags: ArtifactsFlags) => {
    const { copyArtifacts } = await import('../cluster/artifacts-command.ts');
    process.exitCode = await copyArtifacts({ ...flags, flags, name });
  });
}
