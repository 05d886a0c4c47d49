import { readFileSync } from 'node:fs';
import { chmod, cp, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';

/*
 * Bundles the program to plain JavaScript in dist/bin: one file that every command loads, and one for each part that
 * only some load (plots, the Kubernetes client), so that `clawbench harness` starts within 200 ms. What the program
 * reads at run time lies beside it, at the same places as in the checkout: dist/ is whole and can be moved.
 */

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const BIN = join(DIST, 'bin');

/** Read as text at run time: programs for other processes, whose types are taken off where they are staged. */
const READ_AT_RUN_TIME = [
  'src/attempt/shim/shim.ts',
  'src/runtimes/scripted/agent.ts',
  'src/runtimes/scripted/model-call.ts',
  'src/scoring/checkers/node-runner.ts',
  'src/report/page/assets',
  'checkers',
  'scenarios',
  'package.json',
];

/** A module of ours asks where it lies to find what lies beside it; in a bundle it is told where it came from. */
const ownModules: Plugin = {
  name: 'own-modules',
  setup(bundler) {
    bundler.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const place = (of: string): string =>
        `new URL(${JSON.stringify(relative(BIN, join(DIST, relative(ROOT, of))))}, import.meta.url)`;
      const contents = source
        .replaceAll('import.meta.url', `${place(path)}.href`)
        .replaceAll(
          'import.meta.dirname',
          `process.getBuiltinModule('node:url').fileURLToPath(${place(dirname(path))})`,
        )
        // By name the object holds all that zod has, with its messages in fifty languages; as a namespace what is used.
        .replaceAll("import { z } from 'zod'", "import * as z from 'zod'");
      return { contents, loader: 'ts' };
    });
  },
};

await rm(DIST, { recursive: true, force: true });
const result = await build({
  entryPoints: { clawbench: join(ROOT, 'src/cli/main.ts') },
  outdir: BIN,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node26',
  minifySyntax: true,
  // Names stay, so that a stack trace can be read.
  minifyWhitespace: true,
  outExtension: { '.js': '.mjs' },
  // Packages in CommonJS ask for Node.js's own modules by require, which a module does not have.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  plugins: [ownModules],
  logLevel: 'warning',
});
if (result.errors.length > 0) process.exitCode = 1;
// Its first line names Node.js: it is the command itself.
await chmod(join(BIN, 'clawbench.mjs'), 0o755);
for (const path of READ_AT_RUN_TIME) {
  await cp(join(ROOT, path), join(DIST, path), {
    recursive: true,
    filter: (from) => !from.includes('__pycache__'),
  });
}
