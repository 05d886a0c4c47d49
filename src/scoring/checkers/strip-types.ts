import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

/**
 * Replaces the types in every TypeScript file of a tree by blanks, in place, so that lines and columns stay. A
 * file that cannot be stripped is left as it is: its checker fails with the syntax error then.
 */
export function stripTypes(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.m?ts$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    try {
      writeFileSync(path, stripTypeScriptTypes(readFileSync(path, 'utf8')));
    } catch {
      continue;
    }
  }
}
