import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Composer, CST, LineCounter, Parser, type Document } from 'yaml';
import { errnoOf, InvalidInputError, messageOf, type InputProblem } from '../api/errors.ts';
import { pyYamlTags } from './yaml-tags.ts';
import { lineOfPath, MAXIMUM_DEPTH, YamlValueBuilder, YamlValueError } from './yaml-value.ts';

/** Larger files are refused before they are read or parsed; no suite or run file comes near it. */
export const MAXIMUM_YAML_BYTES = 4 * 1024 * 1024;

/** One parsed YAML document and where its parts stand. */
export interface YamlSource {
  /** Name for messages: the path as the user gave it, or relative to the suite's root. */
  readonly file: string;
  readonly value: unknown;
  /** 1-based line of the key or item at `path`; of its deepest existing parent where it is missing. */
  readonly lineOf: (path: readonly (string | number)[]) => number;
}

export interface YamlReadOptions {
  /** Default: MAXIMUM_YAML_BYTES. */
  readonly maximumBytes?: number;
  /** Name for messages; default: the path itself. */
  readonly file?: string;
}

/**
 * Reads a YAML file as PyYAML's SafeLoader does (YAML 1.1: `yes` is true, `<<` merges; timestamps become ISO
 * text), within bounds: size, nesting depth, and the size its aliases unfold to.
 *
 * @throws InvalidInputError with file and line for anything that is not one well-formed UTF-8 document, and for
 * a path that is missing or not a regular file
 */
export async function readYamlFile(path: string, options: YamlReadOptions = {}): Promise<YamlSource> {
  const file = options.file ?? path;
  const bytes = await readBounded(path, file, options.maximumBytes ?? MAXIMUM_YAML_BYTES);
  return parseYaml(decodeUtf8(bytes, file), file, options);
}

/** Decodes text of a file; a byte order mark is dropped. @throws InvalidInputError with the offset of the first wrong byte */
export function decodeUtf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const offset = firstInvalidByte(bytes);
    const line = bytes.subarray(0, offset).reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 1);
    throw new InvalidInputError({
      file,
      line,
      message: `is not UTF-8: byte ${offset} is 0x${(bytes[offset] ?? 0).toString(16).padStart(2, '0')}`,
      remedy: 'Save the file as UTF-8.',
    });
  }
}

/** Like readYamlFile, for text that was read already. */
export function parseYaml(text: string, file: string, options: YamlReadOptions = {}): YamlSource {
  const maximum = options.maximumBytes ?? MAXIMUM_YAML_BYTES;
  if (text.length > maximum) throw tooLarge(file, text.length, maximum);
  const lines = new LineCounter();
  const document = composeOne(text, file, lines);
  const problem = (error: {
    offset: number;
    message: string;
    remedy?: string | undefined;
  }): InputProblem => ({
    file,
    line: lines.linePos(error.offset).line,
    message: error.message,
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
  });
  if (document === undefined) return { file, value: null, lineOf: () => 1 };
  // A warning is a tag that nothing here knows; reading on would turn the value into text.
  const [first, ...rest] = [...document.errors, ...document.warnings].map((error) =>
    problem({ offset: error.pos[0], message: `is not valid YAML: ${error.message}` }),
  );
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
  const builder = new YamlValueBuilder();
  try {
    const value = builder.build(document.contents);
    return {
      file,
      value,
      lineOf: (path) => lineOfPath(document.contents, path, lines, (alias) => builder.targetOf(alias)),
    };
  } catch (error) {
    if (error instanceof YamlValueError) throw new InvalidInputError(problem(error));
    throw error;
  }
}

function composeOne(text: string, file: string, lines: LineCounter): Document.Parsed | undefined {
  const tokens = Array.from(new Parser(lines.addNewLine).parse(text));
  for (const token of tokens) refuseDepth(token, file, lines);
  const composer = new Composer({
    version: '1.1',
    customTags: pyYamlTags,
    // The value builder looks for them, in linear time.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const documents = Array.from(composer.compose(tokens, false, text.length));
  const second = documents[1];
  if (second !== undefined) {
    throw new InvalidInputError({
      file,
      line: lines.linePos(second.range[0]).line,
      message: 'holds more than one YAML document',
      remedy: 'Keep one document a file; remove what follows the "---".',
    });
  }
  const first = documents[0];
  if (first === undefined) return undefined;
  return first;
}

/** Composing recurses: a document of nothing but brackets would end in a stack overflow. */
function refuseDepth(token: CST.Token, file: string, lines: LineCounter): void {
  const stack: { token: CST.Token; depth: number }[] = [{ token, depth: 0 }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { token: current, depth } = next;
    if (depth > MAXIMUM_DEPTH) {
      throw new InvalidInputError({
        file,
        line: lines.linePos(current.offset).line,
        message: `is nested deeper than ${MAXIMUM_DEPTH} levels`,
        remedy: 'Flatten it.',
      });
    }
    if (current.type === 'document') {
      if (current.value !== undefined) stack.push({ token: current.value, depth });
    } else if (CST.isCollection(current)) {
      for (const item of current.items) {
        if (item.key !== undefined && item.key !== null) stack.push({ token: item.key, depth: depth + 1 });
        if (item.value !== undefined) stack.push({ token: item.value, depth: depth + 1 });
      }
    }
  }
}

async function readBounded(path: string, file: string, maximum: number): Promise<Uint8Array> {
  let handle;
  try {
    // Without O_NONBLOCK opening a FIFO would wait for its writer for ever.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new InvalidInputError({ file, ...openProblem(error) });
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) {
      throw new InvalidInputError({
        file,
        message: `is a ${stat.isDirectory() ? 'folder' : 'special file'}, not a file`,
      });
    }
    if (stat.size > maximum) throw tooLarge(file, stat.size, maximum);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function openProblem(error: unknown): { message: string; remedy?: string } {
  const code = errnoOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return { message: 'does not exist', remedy: 'Check the path.' };
  if (code === 'EACCES') return { message: 'may not be read', remedy: 'Check its permissions.' };
  return { message: `cannot be read (${messageOf(error)})` };
}

function tooLarge(file: string, size: number, maximum: number): InvalidInputError {
  const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  return new InvalidInputError({
    file,
    message: `is ${mebibytes(size)}, more than the ${mebibytes(maximum)} that a YAML file may have`,
    remedy: 'Move large content into files of its own and name their paths.',
  });
}

/** Offset at which the first sequence begins that is not UTF-8. */
function firstInvalidByte(bytes: Uint8Array): number {
  const decodes = (length: number, stream: boolean) => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length), { stream });
      return true;
    } catch {
      return false;
    }
  };
  // A streaming decoder accepts a beginning that ends inside a character, so what it accepts is monotone ...
  let [good, bad] = [0, bytes.length + 1];
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (decodes(middle, true)) good = middle;
    else bad = middle;
  }
  // ... and the character that was begun last is the wrong one.
  while (good > 0 && !decodes(good, false)) good -= 1;
  return good;
}
