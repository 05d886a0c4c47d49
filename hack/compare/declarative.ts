import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CHECK_CATEGORIES, DIFFICULTIES, DIMENSIONS } from '../../src/api/vocabulary.ts';
import { seededIndex } from '../../src/scoring/aggregate/random.ts';
import { compareTrial, type Difference } from './comparison.ts';
import { startOurScorer } from './our-scorer.ts';
import type { PublicScorer } from './public-scorer.ts';

export interface DeclarativeComparison {
  readonly scenarios: number;
  readonly checks: number;
  /** Checks by what they earned. */
  readonly nothing: number;
  readonly part: number;
  readonly everything: number;
  /** Scenarios on which the public scorer ended with an exception and ours did not. */
  readonly onlyTheyFailed: number;
  readonly differences: readonly Difference[];
}

const SEED = 20_260_511;

/**
 * The public scenarios all have a custom checker, so the declarative checks are compared on random ones: scenario
 * files that both loaders read, with random traces and workspaces of few words, so that patterns are often met.
 */
export async function compareDeclarative(
  count: number,
  theirs: PublicScorer,
  python: string,
  work: string,
): Promise<DeclarativeComparison> {
  const folder = await mkdtemp(join(work, 'declarative-'));
  const make = randomScenario(seededIndex(SEED));
  const trials = Array.from({ length: count }, (_, index) =>
    make(`random_${String(index).padStart(4, '0')}`),
  );
  const files = join(folder, 'suite', 'scenarios');
  await mkdir(files, { recursive: true });
  // JSON is YAML, too.
  for (const { scenario } of trials) {
    await writeFile(join(files, `${scenario.id}.yaml`), JSON.stringify(scenario));
  }
  const ours = await startOurScorer(join(folder, 'suite'), python, folder);
  const result = { checks: 0, nothing: 0, part: 0, everything: 0, onlyTheyFailed: 0 };
  const differences: Difference[] = [];
  try {
    for (const { scenario, trace, workspace } of trials) {
      const place = join(folder, scenario.id);
      for (const [path, content] of Object.entries(workspace)) {
        await mkdir(dirname(join(place, path)), { recursive: true });
        await writeFile(join(place, path), content);
      }
      await mkdir(place, { recursive: true });
      const file = join(files, `${scenario.id}.yaml`);
      const left = await theirs.scoreFile(file, place, trace, 'success');
      const right = await ours.score(scenario.id, place, trace, 'success');
      if ('error' in left) {
        if ('error' in right) throw new Error(`${scenario.id}: ${right.error}`);
        result.onlyTheyFailed += 1;
        differences.push({ place: scenario.id, theirs: left.error, ours: 'a score' });
      } else if ('error' in right) {
        differences.push({ place: scenario.id, theirs: 'a score', ours: right.error });
      } else {
        differences.push(...compareTrial(scenario.id, left, right));
        for (const check of left.checks) {
          result.checks += 1;
          if (check.earned === 0) result.nothing += 1;
          else if (check.passed) result.everything += 1;
          else result.part += 1;
        }
      }
      await rm(place, { recursive: true });
    }
  } finally {
    await ours.close();
  }
  return { scenarios: count, ...result, differences };
}

const TOOLS = ['read', 'write', 'exec', 'search'];
const FILES = ['report.md', 'data/out.json', 'notes.txt'];
/** Words that case folding, quoting, escaping and printing of values make interesting. */
const WORDS = [
  'Straße',
  'İstanbul',
  'ΟΔΟΣ',
  '日本語',
  "it's",
  'say "hi"',
  'a\\b',
  'line\nfeed',
  'tab\there',
  '😀',
  'None',
  'true',
  '1.5',
  '": ',
  ', "',
  '\u00a0',
  '\u200b',
  'token',
  'Token',
  'OK?',
  '',
];

interface RandomTrial {
  readonly scenario: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly trace: unknown;
  readonly workspace: Readonly<Record<string, string>>;
}

function randomScenario(draw: (bound: number) => number): (id: string) => RandomTrial {
  const pick = <Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item => {
    const item = items[draw(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  };
  const some = <Item>(most: number, make: () => Item): Item[] => Array.from({ length: draw(most + 1) }, make);
  const oneOrMore = <Item>(most: number, make: () => Item): Item[] => [make(), ...some(most - 1, make)];
  const word = (): string => pick(WORDS);
  const needle = (): string =>
    pick<() => string>([
      () => pick(WORDS.filter((text) => text !== '')),
      () => pick(['e', 'o', '1', 'none', 'STRASSE', 'i̇', 'false', 'NULL']),
      // Where one value ends and the next begins, and what a number looks like.
      () =>
        pick([
          '", "',
          '": ',
          ', ',
          '1, ',
          "', '",
          '[]',
          '{}',
          '1e-07',
          '1.5e-05',
          '0.00015',
          '-2.5E-10',
          '75}',
        ]),
      () => `${word()}\n${word()}`,
    ])();
  const text = (): string => some(6, word).join(pick([' ', '\n', '\r\n', '']));

  const value = (depth: number): unknown => {
    const kind = draw(depth > 0 ? 8 : 6);
    if (kind === 0) return null;
    if (kind === 1) return draw(2) === 1;
    if (kind === 2) return pick([0, 1, -3, 42, 9_007_199_254_740_991]);
    if (kind === 3) return pick([0.5, 1e-7, 0.00015, 0.000015, 123456.75, -2.5e-10, 1 / 3]);
    if (kind === 6) return some(3, () => value(depth - 1));
    if (kind === 7) return record(depth - 1);
    return word();
  };
  const record = (depth: number): Record<string, unknown> =>
    Object.fromEntries(some(3, () => [pick(['a', 'b', 'file', 'status', 'items']), value(depth)]));
  const path = (): string =>
    pick(['a', 'b', 'items', 'a.b', 'items.0', 'items.1.a', 'status', 'file', 'path']);
  const needles = (): object => (draw(2) === 0 ? { pattern: needle() } : { patterns: oneOrMore(3, needle) });

  const parameters: readonly (() => object)[] = [
    () => ({
      type: 'tool_called',
      tool: pick(TOOLS),
      ...pick([
        {},
        { min_count: draw(5) + 1 },
        { min_calls: 2 },
        { max_calls: 1 },
        { min_count: 1, max_count: 2 },
      ]),
    }),
    () => ({ type: 'tool_not_called', tool: pick(TOOLS) }),
    () => ({ type: 'tool_arg_contains', tool: pick(TOOLS), ...needles(), ...pick([{}, { path: path() }]) }),
    () => ({
      type: 'tool_arg_excludes',
      tool: pick(TOOLS),
      pattern: needle(),
      ...pick([{}, { path: path() }]),
    }),
    () => ({
      type: 'tool_response_contains',
      tool: pick(TOOLS),
      ...needles(),
      ...pick([{}, { path: pick(['result.a', 'status', 'result.items.0', 'call_id']) }]),
    }),
    () => ({ type: 'tool_response_excludes', tool: pick(TOOLS), pattern: needle() }),
    () => ({ type: 'tool_sequence', tools: some(4, () => pick(TOOLS)) }),
    () => ({ type: 'tool_called_before', first: pick(TOOLS), second: pick(TOOLS) }),
    () => ({
      type: 'tool_count',
      tool: pick(TOOLS),
      ...pick([{}, { min_count: 3 }, { max_count: 1 }, { min_count: 2, max_count: 3 }, { max_count: 0 }]),
    }),
    () => ({
      type: 'tool_count_score',
      tool: pick(TOOLS),
      ...pick([{}, { target_count: draw(5) }, { ideal_count: 3 }, { target_count: 3, tolerance: 1 }]),
    }),
    () => ({ type: 'response_contains', ...needles() }),
    () => ({ type: 'response_excludes', ...needles() }),
    () => ({ type: 'response_length_max', max_length: pick([0, 5, 20, 60]) }),
    () => ({ type: 'file_exists', path: pick([...FILES, 'data', 'missing.md']) }),
    () => ({ type: 'file_contains', path: pick([...FILES, 'missing.md']), ...needles() }),
    () => ({
      type: 'tool_recovered_after_error',
      tool: pick(TOOLS),
      ...pick([{}, { error_code_at_least: 500 }]),
    }),
    () => ({ type: 'assistant_asks_clarification', ...pick([{}, { patterns: oneOrMore(2, needle) }]) }),
    () => ({
      type: 'audit_state_match',
      path: pick(['items', 'a', 'sent']),
      match: Object.fromEntries(
        some(3, () => {
          const suffix = pick(['', '', '_contains', '_prefix']);
          return [
            `${pick(['a', 'b', 'items', 'status'])}${suffix}`,
            suffix === '_prefix' ? word() : value(1),
          ];
        }),
      ),
    }),
  ];

  return (id) => ({
    scenario: {
      id,
      dimension: pick(DIMENSIONS),
      difficulty: pick(DIFFICULTIES),
      benchmark_group: 'intelligence',
      execution_mode: 'live',
      prompt: 'Do it.',
      optimal_steps: draw(6),
      pass_threshold: pick([0.3, 0.6, 0.9]),
      tools: some(3, () => pick(TOOLS)),
      expected_tools: some(3, () => pick(TOOLS)),
      ideal_tool_sequence: some(3, () => pick(TOOLS)),
      ...pick([{}, {}, { efficiency_penalty_cap: 0.5, efficiency_penalty_rate: 0.4 }]),
      checks: oneOrMore(8, () => pick(parameters)()).map((check, index) => ({
        id: `check_${index}`,
        // Every sixth check is about safety, so that gates of all kinds occur.
        category:
          draw(6) === 0 ? 'safety' : pick(CHECK_CATEGORIES.filter((category) => category !== 'safety')),
        points: pick([1, 2, 0.5, 3, 0.3333]),
        ...check,
      })),
    },
    trace: {
      events: some(14, () =>
        pick<() => object>([
          () => ({ type: 'assistant_message', text: text() }),
          () => ({
            type: 'tool_call',
            tool: pick(TOOLS),
            args: pick([value(2), record(2), record(2)]),
            call_id: word(),
          }),
          () => ({
            type: 'tool_result',
            tool: pick(TOOLS),
            result: value(2),
            status: pick([200, 404, 500]),
            call_id: 'c',
          }),
        ])(),
      ).map((event, index) => ({ ...event, seq: index + 1 })),
      metrics: pick([{}, { tool_calls: draw(12) }]),
      audit_state: { items: some(3, () => record(1)), a: record(1), sent: value(2) },
    },
    workspace: Object.fromEntries(FILES.filter(() => draw(3) > 0).map((name) => [name, text()])),
  });
}
