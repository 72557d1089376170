// Asking again and again, while somebody looks.
import { type RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

// `load` says whether that was the last time; what it throws is asked again soon. It is given whether
// its answer is still wanted. Not in a tab behind others; anew when one of `inputs` changes.
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

// Whether an element is within the window.
export function useSeen(place: RefObject<HTMLElement>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const watcher = new IntersectionObserver((entries) => setSeen(entries[entries.length - 1].isIntersecting));
    watcher.observe(place.current!);
    return () => watcher.disconnect();
  }, []);
  return isSeen;
}
