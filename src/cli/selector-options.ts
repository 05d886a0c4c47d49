import { Option, type Command } from 'commander';
import type { SuiteSelector } from '../api/benchmark-run.ts';
import {
  DIFFICULTIES,
  DIMENSIONS,
  PROFILES,
  SIGNAL_SOURCES,
  SUITE_FORMATS,
  type Difficulty,
  type Dimension,
  type Profile,
  type SignalSource,
  type SuiteFormat,
} from '../api/vocabulary.ts';
import { builtinSuiteRoot, loadSuite } from '../suite/load.ts';
import type { LoadedSuite } from '../suite/loaded-suite.ts';
import { selectScenarios, type Selection } from '../suite/select.ts';
import { collectWords, oneOf } from './option-parsers.ts';

/** The options that choose a suite and scenarios of it, the same for every command that has them. */
export interface SelectorOptions {
  readonly suite?: string;
  readonly format?: SuiteFormat;
  readonly profile?: Profile;
  readonly status?: SuiteSelector['status'];
  readonly dimension?: Dimension[];
  readonly difficulty?: Difficulty[];
  readonly signalSource?: SignalSource[];
  readonly surface?: string[];
  readonly tag?: string[];
  readonly group?: string[];
  readonly scenario?: string[];
  readonly exclude?: string[];
}

const words = collectWords((text) => text);

/** Adds --suite and the selectors. Lists are separated by commas, or the option is given again. */
export function addSelectorOptions(command: Command): Command {
  return command
    .option(
      '--suite <path>',
      'folder of scenario files, or one with scenarios/ (default: the built-in suite)',
    )
    .addOption(new Option('--format <format>', 'what the suite holds').choices(SUITE_FORMATS))
    .addOption(new Option('--profile <profile>', 'part of the suite (default: full)').choices(PROFILES))
    .addOption(
      new Option('--status <status>', 'benchmark status (default: active)').choices([
        'active',
        'incubating',
        'all',
      ]),
    )
    .option('--dimension <list>', DIMENSIONS.join(', '), collectWords(oneOf(DIMENSIONS)))
    .option('--difficulty <list>', DIFFICULTIES.join(', '), collectWords(oneOf(DIFFICULTIES)))
    .option('--signal-source <list>', SIGNAL_SOURCES.join(', '), collectWords(oneOf(SIGNAL_SOURCES)))
    .option('--surface <list>', 'OpenClaw surfaces', words)
    .option('--tag <list>', 'tags, the derived ones included', words)
    .option('--group <list>', 'benchmark groups; of tasks: categories', words)
    .option('--scenario <list>', 'ids; they bypass profile and status', words)
    .option('--exclude <list>', 'ids to leave out', words);
}

/** The selector that the options say, without defaults: a run file may have others. */
export function selectorOf(options: SelectorOptions): Partial<SuiteSelector> {
  return {
    ...(options.profile === undefined ? {} : { profile: options.profile }),
    ...(options.status === undefined ? {} : { status: options.status }),
    ...(options.dimension === undefined ? {} : { dimensions: options.dimension }),
    ...(options.difficulty === undefined ? {} : { difficulties: options.difficulty }),
    ...(options.signalSource === undefined ? {} : { signalSources: options.signalSource }),
    ...(options.surface === undefined ? {} : { surfaces: options.surface }),
    ...(options.tag === undefined ? {} : { tags: options.tag }),
    ...(options.group === undefined ? {} : { groups: options.group }),
    ...(options.scenario === undefined ? {} : { scenarioIds: options.scenario }),
    ...(options.exclude === undefined ? {} : { exclude: options.exclude }),
  };
}

/** @throws InvalidInputError for a suite that cannot be loaded and for an empty selection */
export async function loadSelection(
  options: SelectorOptions,
): Promise<{ readonly suite: LoadedSuite; readonly selection: Selection }> {
  const suite = await loadSuite(options.suite ?? builtinSuiteRoot(), options.format);
  return { suite, selection: selectScenarios(suite, selectorOf(options)) };
}
