import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generatedFiles, ROOT } from './outputs.ts';

/* Writes everything that is made from the schemas: CRDs, their copies in the chart, reference pages. */

for (const [path, text] of await generatedFiles()) {
  const target = join(ROOT, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text);
  console.log(path);
}
