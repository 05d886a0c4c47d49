import { Scalar, type ScalarTag, type Tags } from 'yaml';

/**
 * How plain scalars are read: the implicit resolvers of PyYAML's SafeLoader, which the public suites were
 * written for. They differ from the YAML 1.1 types in four places that matter in such files: `y` and `n` are
 * text, `1e3` is text (a float needs a dot and a signed exponent), `09:30` is text while `10:30` is a number in
 * base 60, and a timestamp, which Python reads as a date, becomes its ISO 8601 text.
 */
const PREFIX = 'tag:yaml.org,2002:';

/** Source text of a plain scalar as the reader saw it; the writer of this project never writes YAML. */
function scalarTag(
  tag: string,
  test: RegExp,
  resolve: (text: string, onError: (message: string) => void) => unknown,
): ScalarTag {
  return {
    tag: PREFIX + tag,
    default: true,
    test,
    resolve: (text, onError) => {
      if (!test.test(text)) onError(`"${text}" is not of the type !!${tag}`);
      return new Scalar(resolve(text, onError));
    },
  };
}

const nullTag = scalarTag('null', /^(?:~|null|Null|NULL|)$/, () => null);

const boolTag = scalarTag(
  'bool',
  /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  (text) => /^(?:yes|true|on)$/i.test(text),
);

const intTag = scalarTag(
  'int',
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/,
  (text, onError) => {
    const value = parseInteger(text);
    if (!Number.isSafeInteger(value)) onError(`the number ${text} cannot be kept exactly; put it in quotes`);
    return value + 0;
  },
);

const floatTag = scalarTag(
  'float',
  /^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  (text) => {
    const plain = text.replaceAll('_', '').toLowerCase();
    if (plain.endsWith('.nan')) return Number.NaN;
    const sign = plain.startsWith('-') ? -1 : 1;
    const digits = plain.replace(/^[-+]/, '');
    if (digits === '.inf') return sign * Number.POSITIVE_INFINITY;
    return sign * (digits.includes(':') ? base60(digits) : Number(digits));
  },
);

const TIMESTAMP =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?(?:[ \t]*(?:(Z)|([-+])(\d\d?)(?::?(\d\d))?))?)?$/;

const timestampTag = scalarTag(
  'timestamp',
  // A date alone needs two digits each; PyYAML takes one digit only beside a time.
  /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?))?)$/,
  (text) => isoText(text),
);

const mergeTag: ScalarTag = {
  tag: `${PREFIX}merge`,
  default: 'key',
  test: /^<<$/,
  resolve: (text) => new Scalar(text),
};

const SCALARS: readonly ScalarTag[] = [nullTag, boolTag, intTag, floatTag, timestampTag, mergeTag];

/** Keeps the collections and text of the schema and replaces every other type. */
export function pyYamlTags(tags: Tags): Tags {
  const kept = tags.filter(
    (tag) => typeof tag === 'object' && ['map', 'seq', 'str'].some((name) => tag.tag === PREFIX + name),
  );
  return [...kept, ...SCALARS];
}

/** Callers add 0: Python knows no negative zero among integers. */
function parseInteger(text: string): number {
  const plain = text.replaceAll('_', '').toLowerCase();
  const sign = plain.startsWith('-') ? -1 : 1;
  const digits = plain.replace(/^[-+]/, '');
  if (digits.includes(':')) return sign * base60(digits);
  if (digits.startsWith('0b')) return sign * Number.parseInt(digits.slice(2), 2);
  if (digits.startsWith('0x')) return sign * Number.parseInt(digits.slice(2), 16);
  if (digits.length > 1 && digits.startsWith('0')) return sign * Number.parseInt(digits, 8);
  return sign * Number(digits);
}

function base60(digits: string): number {
  return digits.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
}

function isoText(text: string): string {
  const match = TIMESTAMP.exec(text);
  if (match === null) return text;
  const [
    ,
    year = '',
    month = '',
    day = '',
    hour,
    minute = '',
    second = '',
    fraction,
    zulu,
    sign,
    zoneHour,
    zoneMinute,
  ] = match;
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  if (hour === undefined) return date;
  const time = `${hour.padStart(2, '0')}:${minute}:${second}`;
  const zone =
    zulu ?? (sign === undefined ? '' : `${sign}${(zoneHour ?? '').padStart(2, '0')}:${zoneMinute ?? '00'}`);
  return `${date}T${time}${fraction === undefined || fraction === '' ? '' : `.${fraction}`}${zone}`;
}
