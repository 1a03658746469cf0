/** A list that the daemon sends page by page, the newest rows first. */
import { type Signal, signal } from "@preact/signals";
import { errorText } from "./errorText";

export type PagedList = {
  /** The cursor of the next page: undefined before the first, null after the last. */
  nextBefore: Signal<string | null | undefined>;
  loading: Signal<boolean>;
  failure: Signal<string | null>;
  /** Starts again with the first page. Rows stay until it has arrived. */
  reload: () => Promise<void>;
  loadMore: () => Promise<void>;
};

type Page = { next_before: string | null };

/** `read` requests a page, `take` adds it to the rows. A page that arrives after another `reload` is dropped. */
export function pagedList<P extends Page>(
  read: (before: string | undefined) => Promise<P>,
  take: (page: P, isFirst: boolean) => void,
): PagedList {
  const nextBefore = signal<string | null | undefined>(undefined);
  const loading = signal(false);
  const failure = signal<string | null>(null);
  let generation = 0;
  const load = async (before: string | undefined) => {
    const own = generation;
    loading.value = true;
    try {
      const page = await read(before);
      if (own !== generation) return;
      take(page, before === undefined);
      nextBefore.value = page.next_before;
      failure.value = null;
    } catch (error) {
      if (own === generation) failure.value = errorText(error);
    } finally {
      if (own === generation) loading.value = false;
    }
  };
  return {
    nextBefore,
    loading,
    failure,
    reload: () => {
      generation++;
      return load(undefined);
    },
    loadMore: async () => {
      const before = nextBefore.peek();
      if (loading.peek() || typeof before !== "string") return;
      await load(before);
    },
  };
}
