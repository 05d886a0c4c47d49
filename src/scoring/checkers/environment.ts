/** Folders in which a checker's own children look for programs. */
const PROGRAM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin'];

/**
 * Environment of checker processes: fixed, so that a grade depends on neither the user's shell nor keys in it.
 *
 * @param programs folders searched first
 */
export function checkerEnvironment(...programs: string[]): Record<string, string> {
  return {
    PATH: [...programs, ...PROGRAM_FOLDERS].join(':'),
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    // Sets and dictionaries of strings are walked in the same order each time.
    PYTHONHASHSEED: '0',
    PYTHONUTF8: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONNOUSERSITE: '1',
    // Public checkers may call an installed agent; a grade must not depend on one.
    OPENCLAW_BINARY: '/nonexistent/no-agent-while-scoring',
  };
}
