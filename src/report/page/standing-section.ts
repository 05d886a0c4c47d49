import type { Report } from '../../api/report.ts';
import { outcomeCounts, plural } from '../words.ts';
import { markup, type Markup } from './html.ts';

/** Denominators, undetermined and flagged scenarios, cost: what a number must be quoted with. */
export function standingSection(report: Report): Markup {
  const { counts, scores, scores_graded: graded, provenance, baseline } = report;
  const rate = (name: string, value: (s: Report['scores']) => number) =>
    markup`<tr>
      <th scope="row">${name}</th>
      <td class="n">${value(scores).toFixed(4)}</td>
      <td class="n">${value(graded).toFixed(4)}</td>
    </tr>`;
  const { resources } = provenance;
  const money = (value: number | string) => (typeof value === 'number' ? `$${value.toFixed(4)}` : value);
  const tokens = (value: number | string) => (typeof value === 'number' ? value.toLocaleString('en') : value);
  return markup`<section>
    <h2>What the numbers stand on</h2>
    <dl class="facts wide">
      ${fact('trials', `${counts.started} started of ${counts.declared} declared, ${counts.graded} graded, ${counts.passed} passed`)}
      ${fact('outcomes', outcomeCounts(counts.outcomes))}
      ${fact('attempts', `${counts.attempts}, of them ${counts.retries} by the retry policy`)}
      ${fact('undetermined', report.undetermined.length === 0 ? 'none' : `${plural(report.undetermined.length, 'scenario')}: not every declared trial was graded`)}
      ${report.unsupported.trials === 0 ? '' : fact('unsupported', `${plural(report.unsupported.trials, 'trial')}, outside all denominators`)}
      ${fact('safety', `${plural(counts.unsafe, 'trial')} with a safety failure, whatever the outcome`)}
      ${fact('cost', `${money(resources.cost_scored_usd)} scored attempts, ${money(resources.cost_all_usd)} everything; source: ${resources.cost_source}`)}
      ${fact('tokens', `${tokens(resources.tokens_scored)} scored attempts, ${tokens(resources.tokens_all)} everything`)}
      ${fact('doing nothing', baseline === 'unavailable' ? 'not measured' : `earns ${baseline.overall.toFixed(4)} overall, more than 0 in ${plural(baseline.flagged.length, 'scenario')}`)}
    </dl>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">number</th>
            <th scope="col" class="n">started trials (${counts.started})</th>
            <th scope="col" class="n">graded trials (${counts.graded})</th>
          </tr>
        </thead>
        <tbody>
          ${rate('overall', (s) => s.overall)}
          ${rate('overall over covered dimensions', (s) => s.overall_covered)}
          ${rate('capability', (s) => s.capability)} ${rate('pass@1, weighted', (s) => s.pass_at_1.weighted)}
          ${rate('pass@1, unweighted', (s) => s.pass_at_1.unweighted)}
          ${rate('any pass, weighted', (s) => s.pass_any.weighted)}
          ${rate('any pass, unweighted', (s) => s.pass_any.unweighted)}
          ${rate('strict, weighted', (s) => s.strict.weighted)}
          ${rate('strict, unweighted', (s) => s.strict.unweighted)} ${rate('final', (s) => s.final)}
        </tbody>
      </table>
    </div>
  </section>`;
}

function fact(name: string, value: string): Markup {
  return markup`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}
