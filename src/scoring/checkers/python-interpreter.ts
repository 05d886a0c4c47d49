import { execFile } from 'node:child_process';
import { z } from 'zod';
import { checkerEnvironment } from './environment.ts';

export interface PythonInterpreter {
  /** The program itself, not a shim. */
  readonly path: string;
  readonly version: string;
  readonly hasYaml: boolean;
}

const PROBE = `
import importlib.util, json, sys
if sys.version_info < (3, 9): sys.exit(1)
import ast, csv, subprocess, tempfile
print(json.dumps({"path": sys.executable, "version": sys.version.split()[0],
                  "hasYaml": importlib.util.find_spec("yaml") is not None}))
`;
const PROBE_MS = 10_000;
const probeSchema = z.object({ path: z.string(), version: z.string(), hasYaml: z.boolean() });

/**
 * Finds a Python (3.9 or newer) that the checkers' user can run and load modules of: one in a private home
 * folder would fail in the middle of a grading. One that has PyYAML is preferred.
 *
 * @param configured program to use before all others
 * @param owner user of the checkers; null when it is our own
 */
export async function findPython(
  configured: string | undefined,
  owner: { uid: number; gid: number } | null,
): Promise<PythonInterpreter | undefined> {
  const candidates =
    configured === undefined ? ['python3', '/usr/local/bin/python3', '/usr/bin/python3'] : [configured];
  let withoutYaml: PythonInterpreter | undefined;
  for (const candidate of candidates) {
    const found = await probe(candidate, owner);
    if (found?.hasYaml === true) return found;
    withoutYaml ??= found;
  }
  return withoutYaml;
}

function probe(
  candidate: string,
  owner: { uid: number; gid: number } | null,
): Promise<PythonInterpreter | undefined> {
  const env = { ...checkerEnvironment(), PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
  return new Promise((resolve) => {
    const options = { env, cwd: '/', timeout: PROBE_MS, ...owner };
    try {
      execFile(candidate, ['-s', '-c', PROBE], options, (error, stdout) => {
        resolve(error === null ? parseProbe(stdout) : undefined);
      });
    } catch {
      // spawn throws at once for a user that may not execute the program.
      resolve(undefined);
    }
  });
}

function parseProbe(text: string): PythonInterpreter | undefined {
  try {
    return probeSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
