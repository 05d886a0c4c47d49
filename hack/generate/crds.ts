import { API_GROUP, API_VERSION_NAME } from '../../src/api/benchmark-run.ts';
import type { Resource } from './resources.ts';
import { structuralSchema, type StructuralSchema } from './structural.ts';

/** Name of the file of a resource's CRD. */
export function crdFileName(resource: Resource): string {
  return `${API_GROUP}_${resource.plural}.yaml`;
}

/** Schema of the whole resource. Metadata is the API server's own. */
export function resourceSchema(resource: Resource): StructuralSchema {
  return {
    type: 'object',
    description: resource.description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structuralSchema(resource.spec, 'spec'),
      status: structuralSchema(resource.status, 'status'),
    },
  };
}

/** The CustomResourceDefinition of a resource. */
export function customResourceDefinition(
  resource: Resource,
  annotations?: Readonly<Record<string, string>>,
): unknown {
  const { kind, plural, singular, shortNames } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${API_GROUP}`, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      group: API_GROUP,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames.length === 0 ? {} : { shortNames }),
        categories: ['clawbench'],
      },
      scope: 'Namespaced',
      versions: [
        {
          name: API_VERSION_NAME,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: resource.columns,
          schema: { openAPIV3Schema: resourceSchema(resource) },
        },
      ],
    },
  };
}
