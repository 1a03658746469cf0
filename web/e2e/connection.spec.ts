import { expect, test } from "./fleet";

test.beforeEach(({ fleet }) => test.skip(!fleet.server.mock, "needs a server that can be broken on demand"));

test("a dropped line resumes by id and misses nothing", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start("before");
  await expect(fleet.card(id)).toBeVisible();
  let resumed: string | undefined;
  page.on("request", (request) => {
    if (request.url().endsWith("/api/live/stream")) resumed = request.headers()["last-event-id"];
  });
  await fleet.order("down");
  await expect(page.locator("[data-connection=lost]")).toContainText(/Not connected, trying again in \d:\d\d/);
  await expect(page).toHaveTitle(/not connected/);
  await fleet.order("up");
  await expect(page.locator("[data-connection=live]")).toBeVisible();
  expect(resumed).toMatch(/^\w+-\d+$/);
  await fleet.hook(id, "Stop");
  await expect(fleet.cardIn("Needs You", id)).toBeVisible();
});

test("after a restart the page starts from a fresh snapshot", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.card(id)).toBeVisible();
  await fleet.order("clear");
  await expect(fleet.card(id)).toHaveCount(0);
  await expect(page.locator("[data-connection=live]")).toBeVisible();
  const next = await fleet.start("after");
  await expect(fleet.card(next)).toBeVisible();
});

test("after a gap the snapshot that follows is the truth", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.card(id)).toBeVisible();
  await fleet.order("gap");
  await expect(page.locator("[data-connection=live]")).toBeVisible();
  await expect(fleet.card(id)).toBeVisible();
});

test("a card that lacks every optional field is still a card", async ({ fleet }) => {
  await fleet.open();
  const id = await fleet.start();
  await fleet.order("patch", { id, title: null, git_branch: null, seat: null, model: null, cost: null, context: null, cache: null, background: null, last_failure: null, current_turn_started_at: null });
  await expect(fleet.card(id)).toContainText("No prompt yet");
  const blocked = (await fleet.sessions())[0]?.agent_state;
  await fleet.order("patch", { id, agent_state: { ...blocked, group: "needs_you", state: "needs_permission", role: "urgent", icon: "shield", label: "Permission prompt", source: "registry" }, status: { kind: "attention_needed", detail: null, reason: null } });
  await expect(fleet.cardIn("Needs You", id).getByRole("button", { name: "Answer in terminal" })).toBeVisible();
});
