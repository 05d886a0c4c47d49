import { API_VERSION } from '../../src/api/benchmark-run.ts';
import { resourceSchema } from './crds.ts';
import type { Resource } from './resources.ts';
import type { StructuralSchema } from './structural.ts';

/** docs/reference/api.md: every field of every resource with type, default, bounds and meaning. */
export function apiReference(resources: readonly Resource[]): string {
  return [
    '# Resources',
    '',
    `Group and version: \`${API_VERSION}\`. Generated from the schemas in src/api (\`npm run generate\`).`,
    '',
    'Fields that the table does not call required may be left out. Unknown fields are refused by `kubectl` and',
    '`clawbench`; the API server drops them for clients that do not ask for strictness. Where a rule is broken, the API',
    'server and `clawbench local` answer with the sentence that stands here.',
    ...resources.flatMap(sectionOf),
    '',
  ].join('\n');
}

function sectionOf(resource: Resource): string[] {
  const { spec = {}, status = {} } = resourceSchema(resource).properties ?? {};
  return [
    '',
    `## ${resource.kind}`,
    '',
    resource.description +
      (resource.shortNames.length === 0
        ? ''
        : ` Short name: ${resource.shortNames.map((word) => `\`${word}\``).join(', ')}.`),
    '',
    ...columnTable(resource),
    '',
    `### Spec of ${resource.kind}`,
    '',
    ...fieldTable(spec),
    ...rulesSection(spec),
    '',
    `### Status of ${resource.kind}`,
    '',
    ...fieldTable(status),
    ...rulesSection(status),
  ];
}

function columnTable(resource: Resource): string[] {
  return [
    '| column | field | meaning |',
    '| --- | --- | --- |',
    ...resource.columns.map(({ name, jsonPath, description, priority }) =>
      row(`${name.toUpperCase()}${priority === undefined ? '' : ' (wide)'}`, code(jsonPath), description),
    ),
  ];
}

function fieldTable(schema: StructuralSchema): string[] {
  return [
    '| field | type | default | bounds | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...fieldRows(schema, ''),
  ];
}

function fieldRows(schema: StructuralSchema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    if (field.description === undefined) throw new Error(`${path} needs a description`);
    const required = schema.required?.includes(name) === true;
    const inner = innerFields(field);
    return [
      row(
        code(path),
        typeOf(field),
        required ? 'required' : defaultOf(field),
        boundsOf(field),
        field.description,
      ),
      ...fieldRows(inner.schema, `${path}${inner.suffix}`),
    ];
  });
}

/** The object whose fields stand below a field: itself, or an item of it. */
function innerFields(field: StructuralSchema): { schema: StructuralSchema; suffix: string } {
  return field.items === undefined ? { schema: field, suffix: '.' } : { schema: field.items, suffix: '[].' };
}

function typeOf(field: StructuralSchema): string {
  if (field['x-kubernetes-int-or-string'] === true) return 'quantity';
  if (field.items !== undefined) return `list of ${typeOf(field.items)}`;
  if (field.additionalProperties !== undefined) return `map of ${typeOf(field.additionalProperties)}`;
  if (field['x-kubernetes-preserve-unknown-fields'] === true) return 'any object';
  if (field.enum !== undefined) return field.enum.map((word) => code(String(word))).join(', ');
  return field.type ?? 'any';
}

function defaultOf(field: StructuralSchema): string {
  const value = field.default;
  if (value === undefined) return '';
  return code(typeof value === 'string' ? value : JSON.stringify(value));
}

function boundsOf(field: StructuralSchema): string {
  const own = [
    field.minimum === undefined ? '' : `${field.exclusiveMinimum === true ? '>' : '>='} ${field.minimum}`,
    field.maximum === undefined ? '' : `<= ${field.maximum}`,
    range(field.minLength, field.maxLength, 'characters'),
    range(field.minItems, field.maxItems, 'items'),
    range(undefined, field.maxProperties, 'entries'),
    field.pattern === undefined ? '' : code(field.pattern),
  ];
  const inner = field.items ?? field.additionalProperties;
  const each = inner === undefined || inner.properties !== undefined ? '' : boundsOf(inner);
  return [...own, each === '' ? '' : `each ${each}`].filter((part) => part !== '').join(', ');
}

function range(low: number | undefined, high: number | undefined, word: string): string {
  if (high === undefined) return '';
  return low === undefined || low === 0 ? `<= ${high} ${word}` : `${low} to ${high} ${word}`;
}

function rulesSection(schema: StructuralSchema): string[] {
  const rules = rulesOf(schema, '');
  if (rules.length === 0) return [];
  return [
    '',
    '| where | rule |',
    '| --- | --- |',
    ...rules.map(({ path, message }) => row(path === '' ? 'all of it' : code(path), message)),
  ];
}

function rulesOf(schema: StructuralSchema, path: string): { path: string; message: string }[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message, fieldPath = '' }) => ({
    path: `${path}${fieldPath}`.replace(/^\./, ''),
    message,
  }));
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    rulesOf(field, `${path}.${name}`),
  );
  return [...own, ...below];
}

function code(text: string): string {
  return `\`${text}\``;
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
