import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { embeddedJson, markup, trusted } from '../../../src/report/page/html.ts';

describe('markup of the page', () => {
  it('escapes what is put into text and attributes', () => {
    const evil = `"><img src=x onerror=alert(1)>'&`;
    expect(markup`<p title="${evil}">${evil}</p>`.text).toBe(
      '<p title="&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;">&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;</p>',
    );
  });

  it('takes markup, lists of markup and numbers as they are', () => {
    expect(markup`<ul>${[1, 2].map((n) => markup`<li>${n}</li>`)}</ul>${trusted('<hr>')}`.text).toBe(
      '<ul><li>1</li><li>2</li></ul><hr>',
    );
  });

  it('does not carry the indentation of its source', () => {
    expect(
      markup`<p>
        a
      </p>`.text,
    ).toBe('<p>\na\n</p>');
  });

  it('embeds any value so that no text of it can end its block, and gives it back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const value = { text: `${text}</script><!--<script>\u2028` };
        const block = embeddedJson('x', value).text;
        const inner = block.slice('<script type="application/json" id="x">'.length, -'</script>\n'.length);
        expect(inner).not.toMatch(/[<\u2028\u2029]/);
        expect(JSON.parse(inner)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
