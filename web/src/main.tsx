/**
 * Start reading here: the stream fills the store, the layout is computed from the store, and the page draws
 * the layout.
 */
import { render } from "preact";
import "./styles/index.css";
import { App } from "./App";
import { startAlerts } from "./alerts/alerts";
import { startBrowserTab } from "./alerts/browserTab";
import { startCardHold } from "./board/cardHold";
import { startLayout } from "./board/currentLayout";
import { startKeys } from "./keys/shortcuts";
import { startClock } from "./lib/clock";
import { applyPrefs } from "./lib/preferences";
import { startRouting } from "./lib/route";
import { pollHookStatus } from "./live/hookStatus";
import { enqueueMessages } from "./live/messageQueue";
import { Stream } from "./live/stream";
import { pollUsage } from "./live/usage";
import { reportVisibility } from "./live/visibility";
import { trackPresence } from "./overview/presence";

applyPrefs();
startRouting();
startClock();
startLayout();
startCardHold();
startKeys();
startBrowserTab();
startAlerts();
trackPresence();
pollHookStatus();
pollUsage();
reportVisibility();
new Stream({ url: "/api/live/stream", onMessages: enqueueMessages }).start();

const root = document.getElementById("app");
if (root) render(<App />, root);
