import type { Report, ReportScenario, TrialRow } from '../../api/report.ts';
import { DIMENSIONS, OUTCOMES } from '../../api/vocabulary.ts';
import { plural } from '../words.ts';
import type { EmbeddedDetails } from './embedded-details.ts';
import { markup, type Markup } from './html.ts';
import { OUTCOME_LABELS, OUTCOME_SIGNS } from '../words.ts';

/** Every scenario with a button for each of its trials, and filters for long lists. */
export function scenarioSection(report: Report, rows: readonly TrialRow[], details: EmbeddedDetails): Markup {
  const trials = new Map<string, { index: number; row: TrialRow }[]>();
  for (const [index, row] of rows.entries()) {
    const list = trials.get(row.scenario_id) ?? [];
    trials.set(row.scenario_id, list);
    list.push({ index, row });
  }
  const flagged = new Map(
    report.baseline === 'unavailable'
      ? []
      : report.baseline.flagged.map((flag) => [flag.scenario_id, flag.score]),
  );
  const left =
    details.leftOut === 0
      ? ''
      : ` Transcripts and files of ${plural(details.leftOut, 'trial')} found no room on this page; passed ones were left out first.`;
  return markup`<section>
    <h2>Scenarios and trials</h2>
    <p class="muted">Each button opens a trial: its failed checks, transcript and changed files.${left}</p>
    <div class="filters">
      <label>scenario<input id="filter-text" type="search" autocomplete="off" /></label>
      <label
        >dimension<select id="filter-dimension">
          <option value="">all</option>
          ${DIMENSIONS.map((one) => markup`<option value="${one}">${one.replaceAll('_', ' ')}</option>`)}
        </select></label
      >
      <label
        >has a trial with<select id="filter-outcome">
          <option value="">any outcome</option>
          ${OUTCOMES.map((one) => markup`<option value="${one}">${OUTCOME_LABELS[one]}</option>`)}
        </select></label
      >
      <span id="filter-shown" class="muted" role="status"></span>
    </div>
    <table class="stack">
      <thead>
        <tr>
          <th scope="col">scenario</th>
          <th scope="col">dimension</th>
          <th scope="col" class="n">score</th>
          <th scope="col" class="n">± trials</th>
          <th scope="col">strict</th>
          <th scope="col">trials</th>
        </tr>
      </thead>
      <tbody>
        ${report.scenarios.map((one) => scenarioLine(one, trials.get(one.scenario_id) ?? [], flagged.get(one.scenario_id)))}
        ${report.unsupported.scenarios.map(
          (id) =>
            markup`<tr data-scenario="${id}" data-dimension="" data-outcomes="unsupported">
              <th scope="row">${id}</th>
              <td colspan="5" class="muted">not supported by the runtime; outside all denominators</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

function scenarioLine(
  one: ReportScenario,
  trials: readonly { index: number; row: TrialRow }[],
  noop: number | undefined,
): Markup {
  const strict = one.strict === null ? 'undetermined' : one.strict ? 'yes' : 'no';
  return markup`<tr
    data-scenario="${one.scenario_id}"
    data-dimension="${one.dimension}"
    data-outcomes="${Object.keys(one.outcomes).join(' ')}"
  >
    <th scope="row">
      ${one.scenario_id}${one.name === one.scenario_id ? '' : markup`<span class="name-of">${one.name}</span>`}${noop === undefined ? '' : markup` <span class="tag">doing nothing earns ${noop.toFixed(4)}</span>`}
    </th>
    <td>${one.dimension.replaceAll('_', ' ')}<span class="name-of">${one.difficulty}</span></td>
    <td class="n" data-label="score">${one.mean.toFixed(4)}</td>
    <td class="n" data-label="± trials">${one.stddev.toFixed(3)}</td>
    <td data-label="strict">${strict}</td>
    <td><div class="chips">${trials.map(({ index, row }) => chip(index, row))}</div></td>
  </tr> `;
}

function chip(index: number, row: TrialRow): Markup {
  const outcome = row.outcome ?? 'pending';
  const sign = row.outcome === null ? '…' : OUTCOME_SIGNS[row.outcome];
  const label = row.outcome === null ? 'not ended' : OUTCOME_LABELS[row.outcome];
  return markup`<button
    type="button"
    class="${outcome}"
    data-trial="${index}"
    aria-label="trial ${row.trial}: ${label}"
    title="${label}"
  >
    ${sign} ${row.score === null ? '–' : row.score.toFixed(2)}
  </button>`;
}
