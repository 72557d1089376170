import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask } from "./api";
import { Contention } from "./contention";
import { Job } from "./job";
import { List } from "./list";
import type { Liveness } from "./live";
import type { Session } from "./messages";
import { SignIn } from "./sign_in";
import "./style.css";

const CONTENTION = "#/contention";

// Returns the job of "#/jobs/ID", or "". CONTENTION shows the cluster, and every other address shows
// the list (list_query.ts).
function jobOf(hash: string): string {
  const found = /^#\/jobs\/(.+)$/.exec(hash);
  try {
    return found ? decodeURIComponent(found[1]) : "";
  } catch {
    return "";
  }
}

function App() {
  const [hash, setHash] = useState(location.hash);
  const job = jobOf(hash);
  const [refused, setRefused] = useState<Extract<Liveness, { state: "refused" }>>();
  const [session, setSession] = useState<Session>();
  const [round, setRound] = useState(0); // increases with each sign-in
  useEffect(() => {
    const move = () => setHash(location.hash);
    addEventListener("hashchange", move);
    return () => removeEventListener("hashchange", move);
  }, []);
  useEffect(() => {
    ask<Session>("GET", "/api/session").then(setSession, () => {});
  }, [round]);
  const replace = (address: string) => {
    setHash(address);
    try {
      history.replaceState(null, "", address);
    } catch {
      // Browsers limit the rate of these calls; the list works without the address.
    }
  };
  const onRefused = (liveness: Liveness) => liveness.state === "refused" && setRefused(liveness);
  const signOut = async () => {
    await ask("DELETE", "/api/session").catch(() => {});
    location.reload();
  };
  return (
    <>
      <header>
        <nav aria-label="Main">
          <a class="brand" href="#/">
            <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
              <path d="M2 15c3 0 3-3 6.5-3s3.500 3 6.500 3 3-3 7-3v9H2z" class="tide" />
              <path d="M4 7h16" class="mark" />
            </svg>
            Tidemark
          </a>
          {!refused && (job || hash === CONTENTION) && <a href="#/">All jobs</a>}
          {!refused && hash !== CONTENTION && <a href={CONTENTION}>Contention</a>}
        </nav>
        {session?.has_tokens && !refused && <button type="button" onClick={signOut}>Sign out</button>}
      </header>
      <main>
        {refused ? (
          <SignIn
            why={refused.why}
            onDone={() => {
              setRefused(undefined);
              setRound(round + 1);
            }}
          />
        ) : job ? (
          <Job key={`${round} ${job}`} id={job} onRefused={onRefused} />
        ) : hash === CONTENTION ? (
          <Contention key={round} onRefused={onRefused} />
        ) : (
          <List key={round} hash={hash} onAddress={replace} onRefused={onRefused} />
        )}
      </main>
    </>
  );
}

const place = document.getElementById("app")!;
place.replaceChildren();
render(<App />, place);
