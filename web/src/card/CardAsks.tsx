import { useComputed } from "@preact/signals";
import { AskView } from "../ask/AskView";
import { BunchAsk, type Member } from "../ask/BunchAsk";
import { plainAsksOf } from "../ask/plainAsk";
import type { Bunch } from "../board/bunches";
import { layout } from "../board/currentLayout";
import type { Ask } from "../generated/Ask";
import { sessionSignal } from "../live/store";

/** The asks of the bunch that are still open. The others may have been answered a moment ago, before the next layout. */
export function openMembers(bunch: Bunch | undefined): Member[] {
  return (bunch?.members ?? []).flatMap((member): Member[] => {
    const session = sessionSignal(member.session)?.value;
    const ask = session && plainAsksOf(session).find(({ id }) => id === member.ask);
    return ask ? [{ session, ask }] : [];
  });
}

/** Two members at least, the first of them of this session. */
export const isBunchOf = (id: string, members: Member[]): members is [Member, ...Member[]] =>
  members.length > 1 && members[0]?.session.id === id;

/** The asks on the card of their session: those that are alike together, at the place of the first of them. */
export function CardAsks({ id, asks }: { id: string; asks: Ask[] }) {
  const own = useComputed(() => layout.value.bunches[id]).value ?? [];
  const bunches = own.map(openMembers).filter((members) => isBunchOf(id, members));
  const bunchOf = (ask: Ask) => bunches.find((members) => members.some((member) => member.ask.id === ask.id));
  const firsts = asks.filter((ask) => (bunchOf(ask)?.[0].ask.id ?? ask.id) === ask.id);
  return (
    <>
      {firsts.map((ask) => {
        const bunch = bunchOf(ask);
        return bunch ? (
          <BunchAsk key={ask.id} members={bunch} />
        ) : (
          <AskView key={ask.id} ask={ask} full={false} />
        );
      })}
    </>
  );
}
