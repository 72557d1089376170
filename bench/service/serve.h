// Runs a master like `tidemark serve --listen ADDRESS [--data-dir DIR]`, so that a benchmark can be
// its own server process.
#pragma once

namespace tidemark::bench {

// Returns true if the first word is "serve".
bool WantsToServe(int argc, char** argv);
// Returns only after an error.
int Serve(int argc, char** argv);

}  // namespace tidemark::bench
