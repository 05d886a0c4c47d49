import type { Report } from '../../api/report.ts';
import { markup, type Markup } from './html.ts';

/** Lists beyond which a value is shown by its size; report.json holds all of it. */
const MOST_ITEMS = 12;

/** Every provenance field of the report, in groups. */
export function provenanceSection(report: Report): Markup {
  const groups = Object.entries(report.provenance);
  return markup`<section>
    <h2>Provenance</h2>
    <p class="muted">
      What these numbers depend on. “unavailable”: it cannot be known. All digests in full stand in
      report.json.
    </p>
    ${groups.map(
      ([group, fields]) =>
        markup`<details class="part">
          <summary>${group}</summary>
          <dl class="facts provenance">
            ${Object.entries(fields).map(
              ([name, value]) =>
                markup`<div>
                  <dt>${name.replaceAll('_', ' ')}</dt>
                  <dd>${shown(value)}</dd>
                </div>`,
            )}
          </dl>
        </details>`,
    )}
  </section>`;
}

/** A provenance value in words. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value === '' ? '–' : value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none';
    return value.length > MOST_ITEMS ? `${value.length} entries` : value.map(shown).join(', ');
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return 'none';
  return entries.length > MOST_ITEMS
    ? `${entries.length} entries`
    : entries.map(([name, item]) => `${name}: ${shown(item)}`).join(', ');
}
