//! Start reading here: the stream feeds the store, the store feeds the layout, the layout is drawn.
import { render } from "preact";
import "./styles/index.css";
import { followPresence } from "./overview/away";
import { followAlerts } from "./alerts/alerts";
import { followTab } from "./alerts/tab";
import { App } from "./App";
import { startHolding } from "./board/hold";
import { followStore } from "./board/shown";
import { startKeys } from "./keys/keys";
import { startClock } from "./lib/clock";
import { applyPrefs } from "./lib/prefs";
import { startRouting } from "./lib/route";
import { followHooks } from "./live/hooks";
import { receive } from "./live/inbox";
import { Stream } from "./live/stream";
import { followUsage } from "./live/usage";

applyPrefs();
startRouting();
startClock();
followStore();
startHolding();
startKeys();
followTab();
followAlerts();
followPresence();
followHooks();
followUsage();
new Stream({ url: "/api/live/stream", onMessages: receive }).start();

const root = document.getElementById("app");
if (root) render(<App />, root);
