import { InfrastructureError, InvalidInputError, type InputProblem } from '../../api/errors.ts';
import {
  ApiStatusError,
  isServerError,
  isTooManyRequests,
  isUnauthorized,
  isUnreachable,
} from '../../kube/errors.ts';

/** The cluster cannot be used at all: exit code 3. */
export class ClusterUnusableError extends InfrastructureError {
  constructor(message: string, options?: ErrorOptions) {
    super('ClusterUnreachable', message, options);
  }
}

/**
 * What a failed call to the API server means for the user: an input that the server refuses, in the server's own
 * sentences, or a cluster that cannot be reached. Anything else is returned as it is.
 *
 * @param file the file whose content was refused, for the message
 */
export function asUserError(error: unknown, file?: string): unknown {
  if (isUnreachable(error)) {
    return new ClusterUnusableError(
      `${error.message}. Check the kubeconfig (--kubeconfig, --context) and that the cluster runs.`,
      { cause: error },
    );
  }
  if (isUnauthorized(error)) {
    return new ClusterUnusableError(
      `the cluster does not accept the credentials of the kubeconfig: ${sentenceOf(error)}. Log in again, or choose another --context.`,
      { cause: error },
    );
  }
  if (isServerError(error) || isTooManyRequests(error)) {
    return new ClusterUnusableError(
      `the API server does not answer as it should: ${sentenceOf(error)}. Try again.`,
      { cause: error },
    );
  }
  if (error instanceof ApiStatusError) return refusalOf(error, file);
  return error;
}

/** A refusal with one problem for each cause that the server names. */
function refusalOf(error: ApiStatusError, file: string | undefined): InvalidInputError {
  const place = file === undefined ? {} : { file };
  const { details } = error.body;
  // A 404 without a name is the path itself: the resource is not served.
  if (error.code === 404 && (details?.name ?? '') === '') {
    return new InvalidInputError({
      ...place,
      message: 'this cluster does not know BenchmarkRuns',
      remedy: 'Install the operator (docs/how-to/run-on-a-cluster.md), or choose another --context.',
    });
  }
  const problems = (details?.causes ?? []).map((cause): InputProblem => {
    const field = cause.field === undefined || cause.field === '<nil>' ? '' : cause.field;
    return {
      ...place,
      ...(field === '' ? {} : { field }),
      message: plainCause(cause.message ?? cause.reason ?? 'is refused'),
    };
  });
  const [first, ...rest] = problems;
  return new InvalidInputError(
    first === undefined ? { ...place, message: sentenceOf(error) } : [first, ...rest],
  );
}

/**
 * `Invalid value: "object": model is missing` and `Invalid value: model is missing` -> `model is missing`: what is
 * left out names a type or nothing. A value that is named (`Invalid value: 0: must be ...`) stays.
 */
function plainCause(message: string): string {
  return message.replace(
    /^Invalid value: (?:"?(?:object|array|string|integer|boolean|number)"?: )?(?=[a-z][\w.]* )/,
    '',
  );
}

function sentenceOf(error: ApiStatusError): string {
  return (error.body.message ?? `${error.request} failed (${error.code})`).replace(/\.$/, '');
}
