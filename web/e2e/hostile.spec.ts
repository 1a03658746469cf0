/** Text from prompts, tools and files is never interpreted as markup. */
import { expect, test } from "./fleet";

const HTML = `<img src=x onerror="window.pwned=1"><script>window.pwned=2</script><b id="injected">bold</b>`;
const LINK = "javascript:window.pwned=3";

test.describe("received text is never markup", () => {
  test("markup in every field of a session is shown as text", async ({ fleet, page }) => {
    const id = await fleet.start(HTML, { session_title: HTML, cwd: `/home/dev/${HTML}`, model: HTML });
    const call = {
      tool_name: `Bash${HTML}`,
      tool_input: { command: HTML, description: HTML, file_path: LINK },
      tool_use_id: "t1",
    };
    await fleet.hook(id, "PreToolUse", call);
    await fleet.hook(id, "PostToolUseFailure", { ...call, error: HTML });
    await fleet.hook(id, "SubagentStart", { agent_id: HTML, agent_type: HTML });
    await fleet.hook(id, "TaskCreated", { task_id: "1", task_subject: HTML });
    await fleet.hook(id, HTML, { message: HTML });
    await fleet.hook(id, "PermissionRequest", { tool_name: "Bash", tool_input: { command: HTML } });
    await fleet.hook(`${id}${HTML}`, "UserPromptSubmit", { prompt: LINK });
    await fleet.open(`#/session/${id}`);
    await expect(page.locator("[data-drawer]")).toContainText("<img src=x onerror=");
    await expect(page.locator("#injected")).toHaveCount(0);
    await expect(page.locator("img[src=x]")).toHaveCount(0);
    await expect(page.locator('a[href^="javascript:"]')).toHaveCount(0);
    expect(await page.evaluate("window.pwned")).toBeUndefined();
  });
});
