/** How the tests start the installed browser. It downloads nothing and makes no background requests. */
export const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
