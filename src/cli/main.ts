#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { Command, CommanderError } from 'commander';
import { errnoOf, InfrastructureError, InvalidInputError, messageOf } from '../api/errors.ts';
import { OPERATOR_VERSION } from '../api/version.ts';
import { asUserError, ClusterUnusableError } from './cluster/failures.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/**
 * The commands, in the order in which help shows them. A command's module is loaded when that command is asked for: the
 * harness starts at every attempt and needs neither the report nor the Kubernetes client.
 */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  local: async () => (await import('./commands/local.ts')).registerLocalCommand,
  run: async () => (await import('./commands/run.ts')).registerRunCommand,
  status: async () => (await import('./commands/status.ts')).registerStatusCommand,
  suspend: changeCommands,
  resume: changeCommands,
  cancel: changeCommands,
  rescore: changeCommands,
  artifacts: async () => (await import('./commands/artifacts.ts')).registerArtifactsCommand,
  rerun: async () => (await import('./commands/rerun.ts')).registerRerunCommand,
  show: async () => (await import('./commands/show.ts')).registerShowCommand,
  report: async () => (await import('./commands/report.ts')).registerReportCommand,
  compare: async () => (await import('./commands/compare.ts')).registerCompareCommand,
  scenarios: async () => {
    const [{ registerScenariosCommand }, { registerProbe }] = await Promise.all([
      import('./commands/scenarios.ts'),
      import('./commands/scenarios-probe.ts'),
    ]);
    return (program) => registerProbe(registerScenariosCommand(program));
  },
  score: async () => (await import('./commands/score.ts')).registerScoreCommand,
  prepare: async () => (await import('./commands/prepare.ts')).registerPrepareCommand,
  'score-round': async () => (await import('./commands/score-round.ts')).registerScoreRoundCommand,
  reader: async () => (await import('./commands/reader.ts')).registerReaderCommand,
  harness: async () => (await import('./commands/harness.ts')).registerHarnessCommand,
  gateway: async () => (await import('./commands/gateway.ts')).registerGatewayCommand,
  controller: async () => (await import('./commands/controller.ts')).registerControllerCommand,
};

/** One module has all commands that change a field of a run. */
async function changeCommands(): Promise<(program: Command) => void> {
  return (await import('./commands/change-run.ts')).registerChangeCommands;
}

async function createProgram(argv: readonly string[]): Promise<Command> {
  const program = new Command('clawbench')
    .description('Runs benchmark suites of AI agents, scores them and reports.')
    .version(OPERATOR_VERSION)
    .showHelpAfterError('(clawbench --help lists the commands)')
    .exitOverride();
  const [name = ''] = argv;
  const wanted = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  // Help and an unknown name are answered with all of them.
  const loaders = wanted === undefined ? Object.values(COMMANDS) : [wanted];
  for (const register of new Set(await Promise.all(loaders.map((load) => load())))) register(program);
  return program;
}

/** Runs one command; what went wrong is said on standard error, without a stack trace where the user can mend it. */
async function main(argv: readonly string[]): Promise<ExitCode> {
  try {
    const program = await createProgram(argv);
    await program.parseAsync([...argv], { from: 'user' });
    return asExitCode(process.exitCode);
  } catch (thrown) {
    const error = asUserError(thrown);
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.DONE : EXIT.INVALID_INPUT;
    if (error instanceof InvalidInputError) {
      console.error(
        error.problems.length > 1 ? `${error.problems.length} problems:\n${error.message}` : error.message,
      );
      return EXIT.INVALID_INPUT;
    }
    if (error instanceof ClusterUnusableError) {
      console.error(error.message);
      return EXIT.CLUSTER_UNREACHABLE;
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
