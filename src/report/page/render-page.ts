import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Report, TrialRow } from '../../api/report.ts';
import { DIMENSIONS } from '../../api/vocabulary.ts';
import type { StoredRun } from '../read-run.ts';
import { headlines } from '../headlines.ts';
import { plural } from '../words.ts';
import type { EmbeddedDetails } from './embedded-details.ts';
import { embeddedJson, markup, trusted, type Markup } from './html.ts';
import { pageTable } from './page-table.ts';
import { PALETTE } from './palette.ts';
import type { Plot } from './plots.ts';
import { provenanceSection } from './provenance-section.ts';
import { scenarioSection } from './scenario-section.ts';
import { standingSection } from './standing-section.ts';

export interface PageInput {
  readonly stored: StoredRun;
  readonly report: Report;
  readonly rows: readonly TrialRow[];
  readonly plots: readonly Plot[];
  readonly details: EmbeddedDetails;
}

/**
 * report.html: one file that needs nothing else. Its policy allows its own script and style by their hashes
 * and forbids every connection; text of agents stands in data blocks and reaches the page as text only.
 */
export async function renderPage(input: PageInput): Promise<string> {
  const { report, rows, stored, plots, details } = input;
  const script = await asset('page.js');
  const style = `${await asset('page.css')}${darkPlots()}`;
  const page = markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; script-src '${hashSource(script)}'; style-src '${hashSource(style)}'; base-uri 'none'; form-action 'none'"
        />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${report.name}: overall ${report.scores.overall.toFixed(4)}</title>
        ${trusted(`<style>${style}</style>`)}
      </head>
      <body>
        ${top(report)}
        <main>
          ${cards(report)} ${dimensionSection(report)} ${plotSection(plots)} ${standingSection(report)}
          ${scenarioSection(report, rows, details)} ${provenanceSection(report)}
        </main>
        <footer>
          <p>
            report.json, trials.jsonl and trials.csv lie beside this page; numbers follow from trials.jsonl,
            whose SHA-256 is ${report.provenance.evidence.source_report_sha256}.
          </p>
        </footer>
        ${dialog()} ${embeddedJson('rows', pageTable(stored, rows))} ${details.blocks}
        ${trusted(`<script>${script}</script>`)}
      </body>
    </html>`;
  return page.text;
}

function top(report: Report): Markup {
  const { runtime, model, execution, sampling } = report.provenance;
  const agent =
    model.identity === 'none'
      ? `${runtime.name} ${runtime.version}`
      : `${model.identity} on ${runtime.name} ${runtime.version}`;
  return markup`<header>
    <h1>${report.name}</h1>
    <p class="muted">
      ${agent} · ${plural(report.counts.scenarios, 'scenario')} ×
      ${plural(sampling.trials_per_scenario, 'trial')} ·
      ${execution.started_at.slice(0, 16).replace('T', ' ')} · ${report.row_status.replaceAll('_', ' ')}
    </p>
    ${report.complete ? '' : banner('Not complete: no board takes this row.', report.incomplete_reasons)}
    ${report.diagnostic_reasons.length === 0 ? '' : banner('Diagnostic only: not for comparison between agents.', report.diagnostic_reasons)}
    ${report.problems.length === 0 ? '' : banner('Some records could not be used.', report.problems.slice(0, 20))}
  </header>`;
}

function banner(title: string, reasons: readonly string[]): Markup {
  return markup`<div class="banner" role="note">
    <strong>${title}</strong>
    <ul>
      ${reasons.map((reason) => markup`<li>${reason}</li>`)}
    </ul>
  </div>`;
}

function cards(report: Report): Markup {
  const { started, graded } = report.denominators;
  return markup`<section aria-label="Headline numbers">
    <div class="cards">
      ${headlines(report).map(
        (one) =>
          markup`<div class="card">
            <div class="name">${one.name}</div>
            <div class="value">${one.value.toFixed(4)}</div>
            <div class="interval">${one.interval.low.toFixed(4)} – ${one.interval.high.toFixed(4)}</div>
            <div class="note">${one.meaning}</div>
            ${started === graded ? '' : markup`<div class="note">graded only: ${one.graded.toFixed(4)}</div>`}
          </div>`,
      )}
    </div>
    <p class="muted">
      Over ${plural(started, 'started trial')}; the ${started - graded} of them without a grade count as 0.
      Intervals: ${Math.round(report.intervals.level * 100)}%, bootstrap over scenarios
      (${report.intervals.resamples} resamples, seed ${report.intervals.seed}).
    </p>
  </section>`;
}

function dimensionSection(report: Report): Markup {
  const rows = DIMENSIONS.flatMap((name) => {
    const one = report.dimensions[name];
    return one === undefined ? [] : [{ name, ...one, interval: report.intervals.dimensions[name] }];
  });
  return markup`<section>
    <h2>Dimensions</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">dimension</th>
            <th scope="col" class="n">score</th>
            <th scope="col" class="n">95% interval</th>
            <th scope="col" class="n">pass@1</th>
            <th scope="col" class="n">strict</th>
            <th scope="col" class="n wide-only">scenarios</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (one) =>
              markup`<tr>
                <th scope="row">${one.name.replaceAll('_', ' ')}</th>
                <td class="n">${one.score.toFixed(4)}</td>
                <td class="n">
                  ${one.interval === undefined ? '–' : `${one.interval.low.toFixed(2)} – ${one.interval.high.toFixed(2)}`}
                </td>
                <td class="n">${one.pass_at_1.toFixed(4)}</td>
                <td class="n">${one.strict.toFixed(4)}</td>
                <td class="n wide-only">${one.scenarios}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

function plotSection(plots: readonly Plot[]): Markup {
  if (plots.length === 0) return markup``;
  return markup`<section>
    <h2>Scores, outcomes, time</h2>
    <div class="plots">
      ${plots.map(
        (plot) =>
          markup`<figure>
            <figcaption><strong>${plot.title}</strong>${plot.caption}</figcaption>
            ${plot.legend.length === 0 ? '' : legend(plot)} ${trusted(plot.svg)}
          </figure>`,
      )}
    </div>
  </section>`;
}

function legend(plot: Plot): Markup {
  return markup`<ul class="legend">
    ${plot.legend.map(
      ({ label, colour }) =>
        markup`<li>
          <svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" fill="${colour}" /></svg
          >${label}
        </li>`,
    )}
  </ul>`;
}

function dialog(): Markup {
  return markup`<dialog id="trial" aria-labelledby="trial-heading">
      <div class="bar">
        <h2 id="trial-heading"></h2>
        <button type="button" id="trial-previous" aria-label="previous trial">←</button
        ><button type="button" id="trial-next" aria-label="next trial">→</button
        ><button type="button" id="trial-close">close</button>
      </div>
      <div id="trial-body" tabindex="0" autofocus></div>
    </dialog>
    <noscript
      ><p class="banner">
        Details of trials need this page's own script; clawbench show prints them in a terminal.
      </p></noscript
    >`;
}

/** Rules that exchange each colour of the plots for its dark one. */
function darkPlots(): string {
  const rules = Object.values(PALETTE).flatMap(({ light, dark }) => [
    `svg [fill='${light}']{fill:${dark}}`,
    `svg [stroke='${light}']{stroke:${dark}}`,
  ]);
  return `@media (prefers-color-scheme: dark){${rules.join('')}}`;
}

function asset(name: string): Promise<string> {
  return readFile(new URL(`./assets/${name}`, import.meta.url), 'utf8');
}

function hashSource(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
