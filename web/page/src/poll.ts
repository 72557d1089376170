// Polls the master while the page is visible.
import { type RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

// Calls `load` at intervals while the tab is visible, and again after a change of `inputs`. `load`
// returns true to stop. If it throws, the calls continue. Its argument returns whether the result
// is still used.
export function usePoll(load: (isWanted: () => boolean) => Promise<boolean>, everyMs: number, inputs: unknown[]) {
  useEffect(() => {
    let timer: number | undefined;
    let isWanted = true;
    const round = async () => {
      const isLast = !document.hidden && (await load(() => isWanted).catch(() => false));
      if (isWanted && !isLast) timer = window.setTimeout(round, everyMs);
    };
    void round();
    return () => {
      isWanted = false;
      window.clearTimeout(timer);
    };
  }, inputs);
}

// Returns true if the element is visible in the window.
export function useSeen(place: RefObject<HTMLElement>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const watcher = new IntersectionObserver((entries) => setSeen(entries[entries.length - 1].isIntersecting));
    watcher.observe(place.current!);
    return () => watcher.disconnect();
  }, []);
  return isSeen;
}
