// Starts the runner: `node --expose-gc runners/node/main.js FOLDER`, FOLDER being that of dyno's own program.

import { run } from "./src/run.js";

// A connection that was left open after a failure must not keep the process.
process.exit(await run(process.argv[2] ?? "."));
