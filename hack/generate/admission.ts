import { API_GROUP, API_VERSION_NAME } from '../../src/api/benchmark-run.ts';
import { WORKER_ACCOUNT } from '../../src/api/pod-contract.ts';

interface Validation {
  readonly expression: string;
  readonly message: string;
}

interface Policy {
  readonly name: string;
  readonly resource: string;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly Validation[];
}

/** What `publish` may change of a run's status, and of a Trial's. */
export const WORKER_RUN_FIELDS = ['scores', 'reportPath'] as const;
export const WORKER_TRIAL_FIELDS = [
  'outcome',
  'score',
  'scoredRevision',
  'phase',
  'class',
  'reason',
] as const;

const WORKER_ONLY = [
  {
    name: 'worker',
    expression: `request.userInfo.username.matches('^system:serviceaccount:[^:]+:${WORKER_ACCOUNT}$')`,
  },
] as const;

/** Status before and after; a resource without one has an empty one. */
const STATUSES = [
  { name: 'was', expression: 'has(oldObject.status) ? oldObject.status : {}' },
  { name: 'now', expression: 'has(object.status) ? object.status : {}' },
] as const;

/** Nothing but the fields was added, changed or taken away. */
function onlyThese(fields: readonly string[]): string {
  const allowed = JSON.stringify(fields).replaceAll('"', "'");
  const same = 'key in variables.was && variables.now[key] == variables.was[key]';
  return [
    `variables.now.all(key, key in ${allowed} || (${same}))`,
    `variables.was.all(key, key in ${allowed} || key in variables.now)`,
  ].join(' && ');
}

/** A Trial's field, or '' where it has none. */
function field(of: 'was' | 'now', name: string): string {
  return `(has(variables.${of}.${name}) && variables.${of}.${name} != null ? variables.${of}.${name} : '')`;
}

const POLICIES: readonly Policy[] = [
  {
    name: 'clawbench-worker-trials',
    resource: 'trials/status',
    matchConditions: WORKER_ONLY,
    variables: STATUSES,
    validations: [
      {
        expression: onlyThese(WORKER_TRIAL_FIELDS),
        message: `${WORKER_ACCOUNT} may change only ${WORKER_TRIAL_FIELDS.join(', ')} of a Trial's status; everything else is the controller's`,
      },
      {
        expression: `${field('was', 'phase')} in ['Executed', 'Scored']`,
        message: `${WORKER_ACCOUNT} may score only a Trial that has ended: its phase must be Executed or Scored`,
      },
      {
        expression: `${field('now', 'phase')} == 'Scored'`,
        message: `${WORKER_ACCOUNT} may set phase to Scored only`,
      },
      {
        expression: `${field('now', 'class')} == ${field('was', 'class')} || ${field('now', 'class')} == 'scoring' || (${field('was', 'class')} == 'scoring' && ${field('now', 'class')} in ['', 'agent'])`,
        message: `${WORKER_ACCOUNT} may set class to scoring only, or take scoring back when the trial is graded`,
      },
    ],
  },
  {
    name: 'clawbench-worker-runs',
    resource: 'benchmarkruns/status',
    matchConditions: WORKER_ONLY,
    variables: STATUSES,
    validations: [
      {
        expression: onlyThese(WORKER_RUN_FIELDS),
        message: `${WORKER_ACCOUNT} may change only ${WORKER_RUN_FIELDS.join(' and ')} of a run's status; everything else is the controller's`,
      },
    ],
  },
];

/** The admission policies and their bindings, in the order in which they are applied. */
export function admissionObjects(): unknown[] {
  return POLICIES.flatMap(({ name, resource, matchConditions, variables, validations }) => [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [API_GROUP],
              apiVersions: [API_VERSION_NAME],
              operations: ['UPDATE'],
              resources: [resource],
            },
          ],
        },
        matchConditions,
        variables,
        validations: validations.map((validation) => ({ ...validation, reason: 'Invalid' })),
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ]);
}
