import { Command, CommanderError } from 'commander';
import { errnoOf, InfrastructureError, InvalidInputError, messageOf } from '../api/errors.ts';
import { OPERATOR_VERSION } from '../api/version.ts';
import { registerHarnessCommand } from './commands/harness.ts';
import { registerCompareCommand } from './commands/compare.ts';
import { registerControllerCommand } from './commands/controller.ts';
import { registerGatewayCommand } from './commands/gateway.ts';
import { registerLocalCommand } from './commands/local.ts';
import { registerReaderCommand } from './commands/reader.ts';
import { registerReportCommand } from './commands/report.ts';
import { registerRerunCommand } from './commands/rerun.ts';
import { registerProbe } from './commands/scenarios-probe.ts';
import { registerScenariosCommand } from './commands/scenarios.ts';
import { registerScoreCommand } from './commands/score.ts';
import { registerShowCommand } from './commands/show.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

function createProgram(): Command {
  const program = new Command('clawbench')
    .description('Runs benchmark suites of AI agents, scores them and reports.')
    .version(OPERATOR_VERSION)
    .showHelpAfterError('(clawbench --help lists the commands)')
    .exitOverride();
  registerLocalCommand(program);
  registerRerunCommand(program);
  registerShowCommand(program);
  registerReportCommand(program);
  registerCompareCommand(program);
  registerProbe(registerScenariosCommand(program));
  registerScoreCommand(program);
  registerControllerCommand(program);
  registerReaderCommand(program);
  registerHarnessCommand(program);
  registerGatewayCommand(program);
  return program;
}

/** Runs one command; what went wrong is said on standard error, without a stack trace where the user can mend it. */
async function main(argv: readonly string[]): Promise<ExitCode> {
  try {
    await createProgram().parseAsync([...argv], { from: 'user' });
    return asExitCode(process.exitCode);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.DONE : EXIT.INVALID_INPUT;
    if (error instanceof InvalidInputError) {
      console.error(
        error.problems.length > 1 ? `${error.problems.length} problems:\n${error.message}` : error.message,
      );
      return EXIT.INVALID_INPUT;
    }
    if (error instanceof InfrastructureError) {
      console.error(`${error.reason}: ${error.message}`);
      return EXIT.EXECUTION_FAILURES;
    }
    // The system refused something: its sentence says what and where, a stack trace would add nothing for the user.
    if (errnoOf(error) !== undefined) {
      console.error(messageOf(error));
      return EXIT.EXECUTION_FAILURES;
    }
    throw error;
  }
}

function asExitCode(code: typeof process.exitCode): ExitCode {
  return Object.values(EXIT).find((value) => value === code) ?? EXIT.DONE;
}

// A reader that has seen enough (`| head`) closes the pipe; that is its right, not a fault.
process.stdout.on('error', (error) => {
  if (errnoOf(error) !== 'EPIPE') throw error;
});

process.exitCode = await main(process.argv.slice(2));
