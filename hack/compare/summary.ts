import type { Difference } from './comparison.ts';
import type { DeclarativeComparison } from './declarative.ts';
import type { AggregateComparison, ComparedTrial, TrialComparison } from './run-comparison.ts';
import type { PublicScenario } from './public-scorer.ts';

export interface ComparisonResult {
  readonly python: string;
  readonly scenarios: readonly PublicScenario[];
  readonly trials: TrialComparison;
  readonly aggregates: AggregateComparison;
  readonly declarative: DeclarativeComparison;
}

/** How much of each kind must be among what is compared, lest agreement be cheap. */
const ENOUGH = { tracesPerScenario: 4, partialC: 100, partialP: 100, penalised: 100, gated: 20 } as const;

/** Why the comparison does not show what it should; empty when it does. */
export function failures(result: ComparisonResult): readonly string[] {
  const { trials, aggregates, declarative } = result;
  const measured = measure(result);
  const differences: readonly Difference[] = [
    ...trials.differences,
    ...aggregates.differences,
    ...declarative.differences,
  ];
  const tooFew = [
    [measured.fewestTraces, ENOUGH.tracesPerScenario, 'trials of the scenario with the fewest'],
    [measured.partialC, ENOUGH.partialC, 'trials with 0 < C < 1'],
    [measured.partialP, ENOUGH.partialP, 'trials with 0 < P < 1'],
    [measured.penalised, ENOUGH.penalised, 'trials with E > 0'],
    [measured.gated, ENOUGH.gated, 'trials with G < 1'],
  ] as const;
  return [
    ...tooFew
      .filter(([is, least]) => is < least)
      .map(([is, least, what]) => `${is} ${what}, wanted ${least}`),
    ...differences.map(
      ({ place, theirs, ours }) => `${place}: ${JSON.stringify(theirs)} there, ${JSON.stringify(ours)} here`,
    ),
  ];
}

/** The page of docs/: what was compared, and what differs by intent. Nothing in it depends on the machine. */
export function comparisonPage(result: ComparisonResult): string {
  const { scenarios, trials, aggregates, declarative, python } = result;
  const measured = measure(result);
  const rows: readonly (readonly [string, number | string])[] = [
    ['scenarios in the checkout', scenarios.length],
    ['whose checker asks a live agent (left out, below)', trials.live.length],
    ['compared', measured.scenarios],
    ['initial workspaces that differ', count(trials.differences, 'initial workspace')],
    ['trials compared', trials.compared.length],
    ['trials of the scenario with the fewest', measured.fewestTraces],
    ['trials with 0 < C < 1', measured.partialC],
    ['trials with 0 < P < 1', measured.partialP],
    ['trials with E > 0', measured.penalised],
    ['trials with G < 1', measured.gated],
    ['trials that passed', measured.passed],
    ['trials whose checker threw on both sides', trials.bothFailed.length],
    ['**differing numbers of trials**', trials.differences.length],
    ['runs of three trials a scenario', aggregates.runs],
    ['aggregates compared', aggregates.numbers],
    ['**differing aggregates**', aggregates.differences.length],
    ['random scenarios of declarative checks', declarative.scenarios],
    ['declarative checks compared', declarative.checks],
    [
      'that earned nothing, a part, everything',
      `${declarative.nothing}, ${declarative.part}, ${declarative.everything}`,
    ],
    ['**differing numbers of declarative checks**', declarative.differences.length],
  ];
  return `${INTRODUCTION}
| what | count |
| --- | --- |
${rows.map(([what, value]) => `| ${what} | ${value} |`).join('\n')}

Python ${python} ran the public scorer.

${DIFFERENCES}
## Left out

The checkers of these scenarios start the \`openclaw\` command in at least one of the cases; their result depends on the
agent that is installed.

${trials.live.map((id) => `- \`${id}\``).join('\n')}
`;
}

function measure({ trials: { compared } }: ComparisonResult) {
  const where = (holds: (trial: ComparedTrial) => boolean): number => compared.filter(holds).length;
  const perScenario = Map.groupBy(compared, ({ scenario }) => scenario.id);
  return {
    scenarios: perScenario.size,
    fewestTraces: Math.min(...[...perScenario.values()].map((trials) => trials.length)),
    partialC: where(({ theirs }) => theirs.correctness > 0 && theirs.correctness < 1),
    partialP: where(({ theirs }) => theirs.process > 0 && theirs.process < 1),
    penalised: where(({ theirs }) => theirs.efficiency_penalty > 0),
    gated: where(({ theirs }) => theirs.safety_gate < 1),
    passed: where(({ theirs }) => theirs.passed),
  };
}

function count(differences: readonly Difference[], what: string): number {
  return differences.filter(({ place }) => place.endsWith(what)).length;
}

const INTRODUCTION = `# Comparison with the public scorer

The paper's public implementation (suyoumo/ClawProBench, commit 70f6015, Apache-2.0) scores in Python. Our scores are meant to
be the same numbers. \`hack/compare\` makes up trials for every public scenario, has both score them, and compares
every rounded number: C, P, G, E, capability, score, pass, and each checkpoint's points; from three trials a scenario
also means, deviations, dimensions, overall, capability, and all rates, weighted and unweighted.

\`\`\`
git clone https://github.com/suyoumo/ClawProBench PATH
node_modules/.bin/node hack/compare/main.ts PATH --write docs/explanation/comparison.md
\`\`\`

It needs python3 with PyYAML, takes some minutes, and ends with exit code 1 at the first difference that is not intended. Nothing of
the public benchmark is part of this project: scenarios and checkers are read from the checkout. The public side is its
own loader, scorer and runner in one Python process; ours is the way of a run: load, freeze, checker in a process of
its own, formula.

The nine trials of a scenario: nothing done; the right tools and nothing written; inputs copied as outputs; files
with everything that the checker's source names; with two thirds of it; rubbish after too many calls; dangerous
commands, leaks and a deleted input; the answer said but not written; reading once too often. Because every public
scenario has a custom checker, declarative checks are compared on random scenarios, traces and workspaces.
`;

const DIFFERENCES = `## Where we differ by intent

| the public scorer | ours |
| --- | --- |
| loses \`severity\` while loading, so that every failed safety check acts as major | honours minor, major and critical |
| drops the runtime's separate tool-result messages before scoring, so that live traces have no \`tool_result\` | keeps them |
| an exception in a checker ends the harness | is that trial's scoring error, with no score |
| a checker runs in the harness's process, without limits | in a process of its own with time, memory and output limits |
| a trial that failed by provider or machine has a score like any other | has none; both denominators are reported |
| a scenario is strictly passed when all trials it has passed | only when all declared trials were graded, else it is undetermined |
| \`file_contains\` ends the harness on a folder or on bytes that are not UTF-8 | earns 0 on a folder; bytes that are not UTF-8 read as U+FFFD |
| file checks follow links and absolute paths out of the workspace | never follow a link, never leave the workspace, read at most 16 MiB |
| \`tool_recovered_after_error\` ends the harness on a status that is a word | reads ok, success, completed, error, failed, timeout |
| an infinite or undefined number of a checker becomes part of the score | is a scoring error |
| prints the number 1.0 as \`1.0\` when it looks for a pattern in arguments or results | as \`1\`: JSON as JavaScript reads it does not tell them apart |

Beside the paper's rules, scenarios may declare \`process_requires\` (docs/reference/scoring.md). Public ones do not.
`;
