// A master that does what `tidemark serve --listen ADDRESS [--data-dir DIR]` does, so that a
// benchmark can be its own server process.
#pragma once

namespace tidemark::bench {

// Whether the words ask for that: their first is "serve".
bool WantsToServe(int argc, char** argv);
// Returns only if it cannot.
int Serve(int argc, char** argv);

}  // namespace tidemark::bench
