/** Markup that needs no escaping any more. Only `markup`, `trusted` and `embeddedJson` make it. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | readonly Part[];

/**
 * Template tag that escapes whatever is put in, so that forgetting to escape is not possible: only what a
 * `markup` template made already goes in as it is.
 */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const fixed = withoutIndent(strings);
  let text = fixed[0] ?? '';
  for (const [i, part] of parts.entries()) text += render(part) + (fixed[i + 1] ?? '');
  return new Markup(text);
}

const unindented = new WeakMap<TemplateStringsArray, readonly string[]>();

/** The template's own text without the indentation of the source, of which ten thousand rows would make megabytes. */
function withoutIndent(strings: TemplateStringsArray): readonly string[] {
  const known = unindented.get(strings);
  if (known !== undefined) return known;
  const fixed = strings.map((text) => text.replace(/\n\s*/g, '\n'));
  unindented.set(strings, fixed);
  return fixed;
}

/** Markup of this project's own making, from no record and no agent. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

/**
 * A value inside a data block, `<script type="application/json">`. Every `<` is written as an escape, so that
 * no text can end the block or begin a comment; the line separators too, for older readers of JSON.
 */
export function embeddedJson(id: string, value: unknown): Markup {
  const json = JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
  return new Markup(`<script type="application/json" id="${escapeHtml(id)}">${json}</script>\n`);
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function render(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  return part.map(render).join('');
}
