import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shorten, visibleLine, visibleText } from '../../../src/report/visible-text.ts';

describe('text of agents made visible', () => {
  it('shows what a terminal would obey', () => {
    expect(visibleText('\u001b[2Jgone\u0007')).toBe('\\u{1b}[2Jgone\\u{7}');
  });

  it('shows direction marks that would disguise a name', () => {
    expect(visibleText('invoice\u202egpj.exe')).toBe('invoice\\u{202e}gpj.exe');
    expect(visibleText('a\u2066b\u2069')).toBe('a\\u{2066}b\\u{2069}');
  });

  it('shows zero-width characters and lone surrogates', () => {
    expect(visibleText('a\u200bb\ud800')).toBe('a\\u{200b}b\\u{d800}');
  });

  it('keeps lines, tabs and letters of every script', () => {
    expect(visibleText('eins\r\nzwei\t三 Ärger 😀')).toBe('eins\nzwei\t三 Ärger 😀');
  });

  it('puts a text on one line', () => {
    expect(visibleLine('a\n  b\tc ')).toBe('a b c');
  });

  it('never lets a control character through, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visibleText(text)).not.toMatch(/[^\P{Cc}\n\t]|\p{Cs}|\p{Bidi_Control}/u);
      }),
    );
  });

  it('shortens without cutting a character in half, and says how much is missing', () => {
    expect(shorten('ab😀cd', 3)).toBe('ab… [4 characters more]');
    expect(shorten('short', 5)).toBe('short');
  });
});
