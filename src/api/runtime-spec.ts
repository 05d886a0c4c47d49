import { z } from 'zod';
import { withRules } from './rules.ts';
import { boundedMap, id, image, name, opaqueMap, resources, stringMap, words } from './schema-parts.ts';
import { BEHAVIOURS } from './vocabulary.ts';

/** Prefix of every label of the operator (src/api/names.ts). */
const OWN_PREFIX = 'clawbench.dev/';

const toleration = z.strictObject({
  key: z.string().max(317).optional().describe('Taint key; absent means every key.'),
  operator: z.string().max(32).optional().describe('`Exists` or `Equal`, and what the cluster knows beside.'),
  value: z.string().max(63).optional().describe('Taint value.'),
  effect: z.string().max(32).optional().describe('Taint effect; absent means every effect.'),
  tolerationSeconds: z.int().optional().describe('How long a NoExecute taint is tolerated, in seconds.'),
});

const podLabels = withRules(stringMap, [
  {
    message: `labels under ${OWN_PREFIX} belong to the operator; choose another prefix`,
    cel: `self.all(key, !key.startsWith('${OWN_PREFIX}'))`,
    holds: (labels) => !Object.keys(labels).some((key) => key.startsWith(OWN_PREFIX)),
  },
]);

const podTemplate = z.strictObject({
  nodeSelector: stringMap.optional().describe('Labels that a node must have.'),
  tolerations: z.array(toleration).max(32).optional().describe('Taints that are tolerated.'),
  affinity: opaqueMap.optional().describe('Affinity as in a pod.'),
  runtimeClassName: name.optional().describe('RuntimeClass of the pods, e.g. of a sandboxed runtime.'),
  securityContext: opaqueMap
    .optional()
    .describe("Security context of the pod; it can tighten the operator's."),
  labels: podLabels.optional().describe(`Further labels; none under ${OWN_PREFIX}.`),
  annotations: stringMap.optional().describe('Further annotations.'),
});

export const runtimeSpecSchema = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(64)
    .describe('A runtime id or an alias of one (docs/reference/runtimes.md), e.g. `openclaw`, `scripted`.'),
  image: image.optional().describe("Image of the executor; absent means the chart's image of the runtime."),
  injectNode: z
    .boolean()
    .default(false)
    .describe('Bring Node.js into the executor, for an image that has none.'),
  config: opaqueMap.default({}).describe("The runtime's own configuration, merged over the adapter's."),
  agentId: id.optional().describe('Agent that is asked, for runtimes that have several.'),
  env: stringMap.default({}).describe('Environment of the agent.'),
  skills: words.default([]).describe('Skills of the suite that the agent is given.'),
  behaviour: z.enum(BEHAVIOURS).optional().describe('Scripted runtime only: what the agent does; `solve`.'),
  behaviours: boundedMap(id, z.enum(BEHAVIOURS), 2000)
    .default({})
    .describe('Scripted runtime only: behaviour of single scenarios, by scenario id.'),
  resources: resources.optional().describe("Resources of the executor; absent means the chart's."),
  podTemplate: podTemplate.optional().describe('How trial pods are placed and labelled.'),
});
export type RuntimeSpec = z.infer<typeof runtimeSpecSchema>;
