import { z } from 'zod';
import { withRules } from './rules.ts';
import { ids, image, name, relativePath, words } from './schema-parts.ts';
import { DIFFICULTIES, DIMENSIONS, PROFILES, SIGNAL_SOURCES, SUITE_FORMATS } from './vocabulary.ts';

/** Everything that chooses scenarios from a suite. */
export const suiteSelectorShape = {
  profile: z
    .enum(PROFILES)
    .default('full')
    .describe("Scenarios of this profile only; `full` is all of the suite's scenarios."),
  status: z
    .enum(['active', 'incubating', 'all'])
    .default('active')
    .describe('Scenarios of this benchmark status only.'),
  dimensions: z
    .array(z.enum(DIMENSIONS))
    .max(DIMENSIONS.length)
    .default([])
    .describe('Scenarios of these capability dimensions only; none means all.'),
  difficulties: z
    .array(z.enum(DIFFICULTIES))
    .max(DIFFICULTIES.length)
    .default([])
    .describe('Scenarios of these difficulties only; none means all.'),
  signalSources: z
    .array(z.enum(SIGNAL_SOURCES))
    .max(SIGNAL_SOURCES.length)
    .default([])
    .describe('Scenarios with these signal sources only; none means all.'),
  surfaces: words.default([]).describe('Scenarios that use one of these surfaces only; none means all.'),
  tags: words.default([]).describe('Scenarios with one of these tags only; none means all.'),
  groups: words.default([]).describe('Scenarios of one of these benchmark groups only; none means all.'),
  scenarioIds: ids
    .default([])
    .describe('These scenarios only; none means all. An explicit id bypasses profile and status.'),
  exclude: ids.default([]).describe('Scenarios that are left out whatever else selects them.'),
};
export const suiteSelectorSchema = z.strictObject(suiteSelectorShape);
export type SuiteSelector = z.infer<typeof suiteSelectorSchema>;

const pathInSource = relativePath
  .optional()
  .describe("Folder of the suite, relative to the source's root; absent means the root.");

export const suiteSourceShape = {
  builtin: z.strictObject({}).optional().describe('The suite that comes with the operator.'),
  persistentVolumeClaim: z
    .strictObject({
      claimName: name.describe("Name of a PersistentVolumeClaim in the run's namespace."),
      path: pathInSource,
    })
    .optional()
    .describe('A suite on a volume; it is read only while the run is prepared.'),
  configMap: z
    .strictObject({ name: name.describe("Name of a ConfigMap in the run's namespace.") })
    .optional()
    .describe('A suite as the key `suite.tar.gz` in the binaryData of a ConfigMap.'),
  image: z
    .strictObject({
      reference: image.describe('Reference of the image, best with a digest.'),
      path: pathInSource,
      pullPolicy: z
        .enum(['Always', 'IfNotPresent', 'Never'])
        .optional()
        .describe('When the image is pulled; absent means what Kubernetes does for its tag.'),
    })
    .optional()
    .describe('A suite inside an image, mounted as an image volume.'),
};
export const SUITE_SOURCES = ['builtin', 'persistentVolumeClaim', 'configMap', 'image'] as const;

const suiteSpecObject = z.strictObject({
  ...suiteSourceShape,
  format: z
    .enum(SUITE_FORMATS)
    .default('auto')
    .describe("Format of the suite's files; `auto` looks at them."),
  ...suiteSelectorShape,
});

export const suiteSpecSchema = withRules(suiteSpecObject, [
  {
    message: `exactly one of ${SUITE_SOURCES.join(', ')} is needed; give one source and remove the others`,
    cel: `[${SUITE_SOURCES.map((source) => `has(self.${source})`).join(', ')}].filter(given, given).size() == 1`,
    holds: (suite) => SUITE_SOURCES.filter((source) => suite[source] !== undefined).length === 1,
  },
]);
