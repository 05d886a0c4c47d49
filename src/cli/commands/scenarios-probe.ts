import { Option, type Command } from 'commander';
import { CLAIMS, type Claim } from '../../local/probe/claims.ts';
import { probeSuite, type ScenarioProbe } from '../../local/probe/probe-suite.ts';
import { textTable } from '../../report/text-table.ts';
import { visibleLine } from '../../report/visible-text.ts';
import { EXIT } from '../exit-codes.ts';
import { interruptSignal } from '../interrupt.ts';
import { addSelectorOptions, loadSelection, type SelectorOptions } from '../selector-options.ts';

/** Exit code when a claim does not hold. */
const DOES_NOT_HOLD = 1;

interface ProbeCommandOptions extends SelectorOptions {
  readonly output?: 'json';
}

/** `clawbench scenarios probe`: whether scenarios measure what they claim to. */
export function registerProbe(scenarios: Command): void {
  addSelectorOptions(
    scenarios
      .command('probe')
      .description(
        'try what the standard answer, its mutants, rubbish, doing nothing and unsafe deeds score',
      ),
  )
    .addOption(new Option('-o, --output <format>', 'json instead of a table').choices(['json']))
    .action(async (options: ProbeCommandOptions) => {
      // A scenario in the making is incubating, and is the one to try.
      const { suite, selection } = await loadSelection({ status: 'all', ...options });
      const interrupt = interruptSignal();
      try {
        const probes = await probeSuite(suite, selection, { signal: interrupt.signal });
        if (options.output === 'json') console.log(jsonOf(probes));
        else for (const line of linesOf(probes)) console.log(line);
        if (!probes.every(({ holds }) => holds)) process.exitCode = DOES_NOT_HOLD;
      } catch (error) {
        if (!interrupt.signal.aborted) throw error;
        process.exitCode = EXIT.INTERRUPTED;
      } finally {
        interrupt.release();
      }
    });
}

function jsonOf(scenarios: readonly ScenarioProbe[]): string {
  const holds = scenarios.every((scenario) => scenario.holds);
  return JSON.stringify({ schema_version: 1, holds, scenarios }, null, 2);
}

/** The table, and under it what does not hold. */
function linesOf(probes: readonly ScenarioProbe[]): string[] {
  const single = CLAIMS.filter((claim) => claim !== 'mutant');
  const table = textTable(
    [
      { title: 'SCENARIO' },
      ...single.map((claim) => ({ title: claim.toUpperCase(), align: 'right' as const })),
      { title: 'CHECKS', align: 'right' },
      { title: 'MUTANTS', align: 'right' },
      { title: 'HOLDS' },
    ],
    probes.map((probe) => [
      probe.id,
      ...single.map((claim) => scoreOf(probe, claim)),
      String(probe.checks),
      String(probe.mutants),
      probe.holds ? 'yes' : 'NO',
    ]),
  );
  const problems = probes.flatMap(({ id, findings }) =>
    findings
      .filter((finding) => !finding.holds)
      .map(({ claim, subject, detail }) =>
        visibleLine(`${id}: ${claim}${subject === null ? '' : ` ${subject}`}: ${detail}`),
      ),
  );
  return [...table, ...(problems.length === 0 ? [] : ['', ...problems])];
}

function scoreOf(probe: ScenarioProbe, claim: Claim): string {
  return probe.findings.find((finding) => finding.claim === claim)?.score?.toFixed(4) ?? '-';
}
