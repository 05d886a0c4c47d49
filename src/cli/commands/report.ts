import { Option, type Command } from 'commander';
import { terminalReport } from '../../report/terminal.ts';
import { writeReport } from '../../report/write-report.ts';

/** `clawbench report`: makes the report of a run again, from its stored records alone. */
export function registerReportCommand(program: Command): void {
  program
    .command('report')
    .description('make the report of a run again from its stored records')
    .argument('<dir>', 'folder of the run')
    .addOption(outputOption())
    .action(async (root: string, { output }: { output: 'table' | 'json' }) => {
      const { report, rows, stored } = await writeReport(root);
      console.log(
        output === 'json'
          ? JSON.stringify(report, null, 2)
          : terminalReport(report, rows, stored.layout).trimEnd(),
      );
    });
}

/** `-o table` or `-o json`, for every command that prints a table. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'what to print').choices(['table', 'json']).default('table');
}
