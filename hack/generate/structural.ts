import { z } from 'zod';

/** A schema of a CRD, as far as this project writes them. */
export interface StructuralSchema {
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  nullable?: boolean;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  'x-kubernetes-validations'?: { rule: string; message: string; fieldPath?: string }[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
}

/** What zod hands out before it is made structural. */
type RawSchema = Omit<StructuralSchema, 'additionalProperties' | 'properties' | 'items'> & {
  additionalProperties?: RawSchema | boolean;
  properties?: Record<string, RawSchema>;
  items?: RawSchema;
  propertyNames?: RawSchema;
  anyOf?: unknown;
};

/**
 * The schema of a CRD for what a zod schema reads. Unknown fields are pruned by the API server (and refused by a
 * client that asks for strictness), so strict objects need no mark of their own.
 *
 * @throws Error naming the field when a string, list or map has no bound, or when a schema has no structural form
 */
export function structuralSchema(schema: z.ZodType, name: string): StructuralSchema {
  const raw = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', override: keepKeys });
  // The library's own type knows nothing of OpenAPI's nullable and of x-kubernetes-*.
  return structural(raw as unknown as RawSchema, name);
}

/** OpenAPI has no word for the keys of a map: closed ones are handed on. */
function keepKeys({ zodSchema, jsonSchema }: OverrideContext): void {
  if (!(zodSchema instanceof z.ZodRecord)) return;
  const { keyType } = zodSchema;
  if (keyType instanceof z.ZodEnum) jsonSchema.propertyNames = { enum: keyType.options };
}
type OverrideContext = Parameters<
  NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>
>[0];

function structural(raw: RawSchema, path: string): StructuralSchema {
  const { properties, additionalProperties, propertyNames, items, anyOf, ...rest } = raw;
  const schema: StructuralSchema = { ...rest };
  if (schema['x-kubernetes-int-or-string'] === true) {
    delete schema.type;
  } else if (anyOf !== undefined) {
    throw new Error(`${path}: a choice between schemas has no structural form; use fields side by side`);
  }
  if (schema.default === null) delete schema.default;
  if (schema.type === 'integer') boundInteger(schema);
  if (schema.type === 'string') requireBound(path, schema.enum ?? schema.maxLength, 'maxLength');
  if (schema.format === 'uri') delete schema.format;
  if (schema.type === 'array') {
    requireBound(path, schema.maxItems, 'maxItems');
    if (items === undefined) throw new Error(`${path}: a list needs a schema of its items`);
    schema.items = structural(items, `${path}[]`);
  }
  if (schema.type === 'object') {
    if (properties !== undefined) {
      refuseRequiredNulls(schema, properties, path);
      schema.properties = mapValues(properties, (value, key) => structural(value, `${path}.${key}`));
    } else if (isRecord(additionalProperties)) {
      structuralMap(schema, additionalProperties, propertyNames, path);
    }
  }
  return schema;
}

/** A map: with closed keys it is an object, with values of any kind it is kept as it is. */
function structuralMap(
  schema: StructuralSchema,
  values: RawSchema,
  keys: RawSchema | undefined,
  path: string,
): void {
  if (keys?.enum !== undefined) {
    schema.properties = Object.fromEntries(
      keys.enum.map((key) => [
        String(key),
        { description: `For \`${String(key)}\`.`, ...structural(values, `${path}.${String(key)}`) },
      ]),
    );
    delete schema.required;
    return;
  }
  requireBound(path, schema.maxProperties, 'maxProperties');
  if (Object.keys(values).length === 0) schema['x-kubernetes-preserve-unknown-fields'] = true;
  else schema.additionalProperties = structural(values, `${path}.*`);
}

/** The API server drops the nulls of a merge patch, so a field that may be null may also be absent. */
function refuseRequiredNulls(
  schema: StructuralSchema,
  properties: Readonly<Record<string, RawSchema>>,
  path: string,
): void {
  const name = schema.required?.find((required) => properties[required]?.nullable === true);
  if (name !== undefined) throw new Error(`${path}.${name} may be null, so it needs default(null)`);
}

/** Bounds that are only those of exact integers say nothing to a reader; int64 is what the API server stores. */
function boundInteger(schema: StructuralSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  schema.format = 'int64';
}

function requireBound(path: string, bound: unknown, word: string): void {
  if (bound === undefined) throw new Error(`${path} needs ${word}: everything in a resource is bounded`);
}

function isRecord(value: RawSchema | boolean | undefined): value is RawSchema {
  return typeof value === 'object';
}

function mapValues<From, To>(
  record: Record<string, From>,
  map: (value: From, key: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
