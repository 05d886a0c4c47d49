/**
 * Reads a secret from the environment and takes it out, so that no child process inherits it.
 *
 * @returns null when it is not set or empty
 */
export function takeSecret(name: string): string | null {
  const value = process.env[name];
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- setting it to undefined would set a text
  delete process.env[name];
  return value === undefined || value === '' ? null : value;
}
