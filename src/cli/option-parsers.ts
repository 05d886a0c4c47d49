import { InvalidArgumentError } from 'commander';

/** Parses a whole number of at least 1 for commander. */
export function positiveInteger(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError('Give a whole number of at least 1.');
}

/** Parses a port for commander; 0 is any free one. */
export function portNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 65_535) return value;
  throw new InvalidArgumentError('Give a port, 0 to 65535.');
}

/** Parses a whole number of at least 0 for commander. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('Give a whole number.');
}

/** A commander parser that takes one of the given words. */
export function oneOf<const Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return word;
    throw new InvalidArgumentError(`Give one of ${words.join(', ')}.`);
  };
}

/** Collects the values of a repeatable option, each of which may be a list separated by commas. */
export function collectWords<const Word extends string>(
  parse: (text: string) => Word,
): (text: string, previous: readonly Word[] | undefined) => Word[] {
  return (text, previous) => [
    ...(previous ?? []),
    ...text
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
      .map(parse),
  ];
}
