/**
 * Start reading here: the stream fills the store, the layout is computed from the store, and the page draws
 * the layout.
 */
import { render } from "preact";
import "./styles/index.css";
import { App } from "./App";
import { startAlerts } from "./alerts/alerts";
import { startBrowserTab } from "./alerts/browserTab";
import { sendPendingOnLeave } from "./ask/giveAnswer";
import { startKeepingText } from "./ask/keptText";
import { startCardHold } from "./board/cardHold";
import { startLayout } from "./board/currentLayout";
import { filter } from "./board/filter";
import { boardFilterInQuery } from "./board/filterUrl";
import { sessionsOnScreen } from "./board/onScreen";
import { startDigest } from "./digest/digestData";
import { effortFilter } from "./efforts/effortsData";
import { effortFilterInQuery } from "./efforts/filterUrl";
import { startKeys } from "./keys/shortcuts";
import { startClock } from "./lib/clock";
import { applyPrefs } from "./lib/preferences";
import { trackPresence } from "./lib/presence";
import { startRouting } from "./lib/route";
import { keepInUrl } from "./lib/urlFilter";
import { pollHookStatus } from "./live/hookStatus";
import { pollHosts } from "./live/hosts";
import { enqueueMessages } from "./live/messageQueue";
import { startStream } from "./live/stream";
import { pollUsage } from "./live/usage";
import { reportVisibility } from "./live/visibility";
import { logFilterInQuery } from "./log/filterUrl";
import { logFilter } from "./log/logData";

applyPrefs();
startRouting();
startClock();
keepInUrl(filter, boardFilterInQuery);
keepInUrl(logFilter, logFilterInQuery);
keepInUrl(effortFilter, effortFilterInQuery);
startLayout();
startCardHold();
startKeys();
sendPendingOnLeave();
startKeepingText();
startBrowserTab();
startAlerts();
trackPresence();
startDigest();
pollHookStatus();
pollUsage();
pollHosts();
reportVisibility(sessionsOnScreen);
startStream(enqueueMessages);

const root = document.getElementById("app");
if (root) render(<App />, root);
