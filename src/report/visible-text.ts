/**
 * Characters that change what a reader sees without being seen: controls (a terminal obeys them), bidirectional
 * overrides and isolates, zero-width characters, line and paragraph separators, tag characters, lone surrogates.
 */
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/**
 * Text of an agent as it may be shown to people, in a terminal or on a page: every control, bidirectional and
 * invisible character stands as `\u{..}`, so that it can neither move a cursor nor disguise what was written.
 * Tab and line feed stay; a carriage return before a line feed is dropped.
 */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** `visibleText` on one line: line feeds and tabs become spaces. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/\s+/g, ' ').trim();
}

/** At most `limit` characters, never half a character; what is left out is said by an ellipsis and a count. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit).replace(/[\ud800-\udbff]$/, '');
  return `${cut}… [${text.length - cut.length} characters more]`;
}
