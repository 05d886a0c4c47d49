import { Argument, Option, type Command } from 'commander';
import { formatProblem } from '../../api/errors.ts';
import { DIFFICULTIES, DIMENSIONS, type Difficulty, type Dimension } from '../../api/vocabulary.ts';
import { textTable } from '../../report/text-table.ts';
import { visibleLine } from '../../report/visible-text.ts';
import type { Finding } from '../../suite/lint/finding.ts';
import { lintSuite } from '../../suite/lint/lint-suite.ts';
import { builtinSuiteRoot } from '../../suite/load.ts';
import type { LoadedScenario, LoadedTask } from '../../suite/loaded-suite.ts';
import { writeSkeleton } from '../../suite/skeleton.ts';
import { EXIT } from '../exit-codes.ts';
import { addSelectorOptions, loadSelection, type SelectorOptions } from '../selector-options.ts';

interface OutputOptions {
  readonly output?: 'json';
}

interface NewOptions {
  readonly suite?: string;
  readonly dimension: Dimension;
  readonly difficulty: Difficulty;
}

const outputOption = () => new Option('-o, --output <format>', 'json instead of a table').choices(['json']);

/**
 * `clawbench scenarios`: list, lint and new.
 *
 * @returns the command, for further subcommands (scenarios-probe.ts)
 */
export function registerScenariosCommand(program: Command): Command {
  const scenarios = program.command('scenarios').description('look at a suite of scenarios, or add to one');
  addSelectorOptions(scenarios.command('list').description('list the scenarios that the selectors take'))
    .addOption(outputOption())
    .action(async (options: SelectorOptions & OutputOptions) => {
      await list(options);
    });
  addSelectorOptions(scenarios.command('lint').description('look for what is wrong with scenarios'))
    .addOption(outputOption())
    .action(async (options: SelectorOptions & OutputOptions) => {
      await lint(options);
    });
  scenarios
    .command('new')
    .description('write the skeleton of a scenario: its file, workspace and standard answer')
    .addArgument(new Argument('<id>', 'id of the new scenario'))
    .option('--suite <path>', 'folder of the suite (default: the built-in suite)')
    .addOption(
      new Option('--dimension <dimension>', 'what it measures').choices(DIMENSIONS).default('tool_use'),
    )
    .addOption(
      new Option('--difficulty <difficulty>', 'how hard it is').choices(DIFFICULTIES).default('medium'),
    )
    .action(async (id: string, options: NewOptions) => {
      const { suite = builtinSuiteRoot(), dimension, difficulty } = options;
      const written = await writeSkeleton({ suite, id, dimension, difficulty });
      console.log(`Wrote ${written.join('\n      ')}`);
      console.log(
        `Next: edit them, then \`clawbench scenarios lint --scenario ${id}\` (docs/reference/scenario.md).`,
      );
    });
  return scenarios;
}

async function list(options: SelectorOptions & OutputOptions): Promise<void> {
  const { suite, selection } = await loadSelection(options);
  if (options.output === 'json') {
    const scenarios =
      suite.format === 'task' ? selection.tasks.map(describeTask) : selection.scenarios.map(describeScenario);
    console.log(JSON.stringify({ format: suite.format, scenarios }, null, 2));
    return;
  }
  const table =
    suite.format === 'task' ? tableOfTasks(selection.tasks) : tableOfScenarios(selection.scenarios);
  for (const line of table) console.log(line);
  const left = selection.excluded.length;
  console.log(
    `\n${count(selection.ids.length, suite.format === 'task' ? 'task' : 'scenario')}${left === 0 ? '' : `; ${left} of the active ones left out`}`,
  );
}

function describeScenario({ scenario, file }: LoadedScenario) {
  const { checks, workspace_files, prompt, carried, ...fields } = scenario;
  return { ...fields, checks: checks.length, file };
}

function describeTask({ id, task, file }: LoadedTask) {
  return {
    id,
    category: task.category,
    agent_sys: task.agent_sys,
    agent_id: task.agent_id,
    timeout_seconds: task.timeout_seconds,
    max_total_seconds: task.max_total_seconds,
    success_threshold: task.success_threshold,
    skills: task.skills,
    services: task.services.map(({ name }) => name),
    file,
  };
}

function tableOfScenarios(scenarios: readonly LoadedScenario[]): string[] {
  return textTable(
    [
      { title: 'ID' },
      { title: 'DIMENSION' },
      { title: 'DIFFICULTY' },
      { title: 'GROUP' },
      { title: 'STATUS' },
      { title: 'SIGNAL' },
      { title: 'WEIGHT', align: 'right' },
      { title: 'TURN', align: 'right' },
      { title: 'SURFACES' },
    ],
    scenarios.map(({ scenario }) => [
      scenario.id,
      scenario.dimension,
      scenario.difficulty,
      scenario.benchmark_core ? `${scenario.benchmark_group} (core)` : scenario.benchmark_group,
      scenario.benchmark_status,
      scenario.signal_source,
      String(scenario.weight),
      `${scenario.timeout_seconds}s`,
      visibleLine(scenario.openclaw_surfaces.join(',')) || '-',
    ]),
  );
}

function tableOfTasks(tasks: readonly LoadedTask[]): string[] {
  return textTable(
    [
      { title: 'ID' },
      { title: 'CATEGORY' },
      { title: 'AGENT' },
      { title: 'TURN', align: 'right' },
      { title: 'TOTAL', align: 'right' },
    ],
    tasks.map(({ task }) => [
      task.task_id,
      task.category,
      `${task.agent_sys}/${task.agent_id}`,
      `${task.timeout_seconds}s`,
      `${task.max_total_seconds}s`,
    ]),
  );
}

async function lint(options: SelectorOptions & OutputOptions): Promise<void> {
  // A scenario in the making is incubating, and is the one to look at.
  const { suite, selection } = await loadSelection({ status: 'all', ...options });
  const findings = await lintSuite(suite, selection.scenarios);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (options.output === 'json') {
    console.log(JSON.stringify({ findings }, null, 2));
  } else {
    for (const finding of findings) console.log(lineOfFinding(finding));
    console.log(
      `${selection.ids.length} looked at: ${count(errors, 'error')}, ${count(findings.length - errors, 'warning')}`,
    );
  }
  if (errors > 0) process.exitCode = EXIT.INVALID_INPUT;
}

function lineOfFinding({ file, line, field, rule, severity, message, remedy }: Finding): string {
  const problem = formatProblem({
    file,
    ...(line === null ? {} : { line }),
    ...(field === null ? {} : { field }),
    message: `${severity}: ${message}`,
    remedy,
  });
  return visibleLine(`${problem} [${rule}]`);
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}
