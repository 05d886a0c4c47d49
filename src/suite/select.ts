import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import { suiteSelectorSchema, type SuiteSelector } from '../api/benchmark-run.ts';
import type { Scenario } from '../api/scenario.ts';
import type { Profile } from '../api/vocabulary.ts';
import { didYouMean } from '../files/suggest.ts';
import type { LoadedScenario, LoadedSuite, LoadedTask } from './loaded-suite.ts';

/** What a selector took from a suite. */
export interface Selection {
  /** The selector with its defaults filled in. */
  readonly selector: SuiteSelector;
  /** Sorted by id. One of the two lists is empty: a suite has one format. */
  readonly scenarios: readonly LoadedScenario[];
  readonly tasks: readonly LoadedTask[];
  /** Ids taken, sorted. */
  readonly ids: readonly string[];
  /** Ids of the suite's active full set that the selector left out, sorted. */
  readonly excluded: readonly string[];
  /** True when `excluded` is not empty: scores over this selection are not the suite's. */
  readonly partial: boolean;
}

/** What a selector can ask about: a scenario's fields, or the few of them that a task has. */
interface Candidate {
  readonly id: string;
  readonly active: boolean;
  /** null for tasks, which have none of these fields. */
  readonly scenario: Scenario | null;
  readonly group: string;
  readonly tags: readonly string[];
}

interface Filter {
  /** As the selector's field is named. */
  readonly field: string;
  readonly wanted: string;
  readonly keeps: (candidate: Candidate) => boolean;
  /** Words of this field that the suite has, to name in a message. */
  readonly known: (candidates: readonly Candidate[]) => readonly string[];
}

const PROFILE_RULES: Readonly<Record<Profile, (scenario: Scenario) => boolean>> = {
  full: () => true,
  core: (scenario) => scenario.benchmark_group === 'intelligence' && scenario.benchmark_core,
  intelligence: (scenario) => scenario.benchmark_group === 'intelligence',
  coverage: (scenario) => scenario.benchmark_group === 'coverage',
  native: (scenario) => scenario.signal_source === 'openclaw_native',
};

/**
 * Takes the scenarios or tasks that a selector asks for. Selectors combine: each narrows what the others leave;
 * several words of one selector widen it. Explicit ids bypass profile and status, never the others.
 *
 * @throws InvalidInputError for an id the suite does not have, and when nothing is left, naming the selector
 * after which nothing was
 */
export function selectScenarios(suite: LoadedSuite, selector: Partial<SuiteSelector> = {}): Selection {
  const full = suiteSelectorSchema.parse(selector);
  const candidates = candidatesOf(suite);
  refuseUnknownIds(full, candidates);
  let kept: readonly Candidate[] = candidates;
  for (const filter of filtersOf(full)) {
    const next = kept.filter((candidate) => filter.keeps(candidate));
    if (next.length === 0) throw emptied(filter, kept, candidates);
    kept = next;
  }
  const ids = kept.map(({ id }) => id).sort(byCodePoint);
  const taken = new Set(ids);
  const excluded = candidates
    .filter(({ id, active }) => active && !taken.has(id))
    .map(({ id }) => id)
    .sort(byCodePoint);
  const takenOf = <Item extends { readonly id: string }>(items: readonly Item[]) =>
    items.filter(({ id }) => taken.has(id)).sort((a, b) => byCodePoint(a.id, b.id));
  return {
    selector: full,
    scenarios: suite.format === 'scenario' ? takenOf(suite.scenarios) : [],
    tasks: suite.format === 'task' ? takenOf(suite.tasks) : [],
    ids,
    excluded,
    partial: excluded.length > 0,
  };
}

function candidatesOf(suite: LoadedSuite): Candidate[] {
  if (suite.format === 'task') {
    return suite.tasks.map(({ id, task }) => ({
      id,
      active: true,
      scenario: null,
      group: task.category,
      tags: [],
    }));
  }
  return suite.scenarios.map(({ id, scenario }) => ({
    id,
    active: scenario.benchmark_status === 'active',
    scenario,
    group: scenario.benchmark_group,
    tags: scenario.tags,
  }));
}

/** Widest first: where nothing is left, the narrower wish is the one to name. */
function filtersOf(selector: SuiteSelector): Filter[] {
  const filters: Filter[] = [];
  const add = (
    field: string,
    words: readonly string[],
    of: (candidate: Candidate) => readonly string[],
  ): void => {
    if (words.length === 0) return;
    const wanted = new Set(words);
    filters.push({
      field,
      wanted: words.join(', '),
      keeps: (candidate) => of(candidate).some((word) => wanted.has(word)),
      known: (candidates) => [...new Set(candidates.flatMap((candidate) => of(candidate)))].sort(byCodePoint),
    });
  };
  if (selector.scenarioIds.length > 0) {
    add('scenarioIds', selector.scenarioIds, ({ id }) => [id]);
  } else {
    const { status } = selector;
    if (status !== 'all') {
      add('status', [status], ({ active }) => [active ? 'active' : 'incubating']);
    }
    if (selector.profile !== 'full') {
      const rule = PROFILE_RULES[selector.profile];
      filters.push({
        field: 'profile',
        wanted: selector.profile,
        // Tasks know no profiles but full.
        keeps: ({ scenario }) => scenario !== null && rule(scenario),
        known: () => [],
      });
    }
  }
  const field = (of: (scenario: Scenario) => readonly string[]) => (candidate: Candidate) =>
    candidate.scenario === null ? [] : of(candidate.scenario);
  add(
    'dimensions',
    selector.dimensions,
    field((scenario) => [scenario.dimension]),
  );
  add(
    'difficulties',
    selector.difficulties,
    field((scenario) => [scenario.difficulty]),
  );
  add(
    'signalSources',
    selector.signalSources,
    field((scenario) => [scenario.signal_source]),
  );
  add(
    'surfaces',
    selector.surfaces,
    field((scenario) => scenario.openclaw_surfaces),
  );
  add('tags', selector.tags, ({ tags }) => tags);
  add('groups', selector.groups, ({ group }) => [group]);
  if (selector.exclude.length > 0) {
    const out = new Set(selector.exclude);
    filters.push({
      field: 'exclude',
      wanted: selector.exclude.join(', '),
      keeps: ({ id }) => !out.has(id),
      known: () => [],
    });
  }
  return filters;
}

function refuseUnknownIds(selector: SuiteSelector, candidates: readonly Candidate[]): void {
  const known = new Set(candidates.map(({ id }) => id));
  const problems: InputProblem[] = (['scenarioIds', 'exclude'] as const).flatMap((field) =>
    selector[field]
      .filter((id) => !known.has(id))
      .map((id) => ({
        field,
        message: `the suite has no scenario "${id}"`,
        remedy: didYouMean(id, known) ?? '`clawbench scenarios list --status all` shows what it has.',
      })),
  );
  const [first, ...rest] = problems;
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
}

function emptied(filter: Filter, before: readonly Candidate[], all: readonly Candidate[]): InvalidInputError {
  const known = filter.known(before);
  const elsewhere = all.some((candidate) => filter.keeps(candidate));
  const remedy =
    known.length > 0 && known.length <= 30
      ? `There it can be ${known.join(', ')}.`
      : elsewhere
        ? 'Some do outside of what the other selectors left; widen those.'
        : 'Choose another value or leave it out.';
  const count = before.length === 1 ? 'the 1 scenario' : `none of the ${before.length} scenarios`;
  return new InvalidInputError({
    field: filter.field,
    message:
      filter.field === 'exclude'
        ? `the selection is empty: every scenario that the other selectors left is excluded`
        : `the selection is empty: ${before.length === 1 ? `${count} left does not match` : `${count} left matches`} ${filter.field} ${filter.wanted}`,
    remedy,
  });
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
