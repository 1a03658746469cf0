import { AlertsDialog } from "./alerts/AlertsDialog";
import { announcement } from "./alerts/alerts";
import { Board } from "./board/Board";
import { layout } from "./board/currentLayout";
import { EmptyBoard } from "./board/EmptyBoard";
import { DigestDialog } from "./digest/DigestDialog";
import { Drawer } from "./drawer/Drawer";
import { EffortsView } from "./efforts/EffortsView";
import { ConnectionBanner } from "./header/ConnectionBanner";
import { FilterBar, Found } from "./header/FilterBar";
import { Header } from "./header/Header";
import { HookBanner } from "./header/HookBanner";
import { PhoneNav, PhoneTabs } from "./header/PhoneBar";
import { HostsView } from "./hosts/HostsView";
import { KeyFooter } from "./keys/KeyFooter";
import { openAt, openId, view } from "./lib/route";
import { loaded } from "./live/store";
import { LogView } from "./log/LogView";
import { Help } from "./overlay/Help";
import { overlay } from "./overlay/overlay";
import { Palette } from "./overlay/Palette";
import { Overview } from "./overview/Overview";
import { Sprite } from "./ui/Icon";
import { Toasts } from "./ui/toast";
import { UsageDialog } from "./usage/UsageDialog";

export function App() {
  return (
    <>
      <Sprite />
      <p class="sr" aria-live="polite">
        <span key={announcement.value.count}>{announcement.value.text}</span>
      </p>
      <div class="app" data-view={view.value}>
        <Header />
        <ConnectionBanner />
        <Page />
        {openId.value === null && <KeyFooter />}
        <PhoneNav />
      </div>
      {openId.value !== null && <Drawer key={`${openId.value} ${openAt.value}`} id={openId.value} />}
      {overlay.value === "palette" && <Palette />}
      {overlay.value === "help" && <Help />}
      {overlay.value === "alerts" && <AlertsDialog />}
      {overlay.value === "usage" && <UsageDialog />}
      {overlay.value === "digest" && <DigestDialog />}
      <Toasts />
    </>
  );
}

function Page() {
  if (view.value === "overview") return <Overview />;
  if (view.value === "log") return <LogView />;
  if (view.value === "efforts") return <EffortsView />;
  if (view.value === "hosts") return <HostsView />;
  if (!loaded.value)
    return (
      <main class="empty" aria-busy="true">
        <p class="dim">Connecting to the daemon</p>
      </main>
    );
  if (layout.value.known === 0) return <EmptyBoard />;
  return (
    <>
      <FilterBar />
      <PhoneTabs />
      <Found class="found found-phone" />
      <HookBanner />
      <Board />
    </>
  );
}
