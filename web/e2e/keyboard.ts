/** Keyboard sequences that several tests use. */
import { expect, type Locator, type Page } from "@playwright/test";

/** Presses g and a letter. They must follow each other quickly, so a busy machine may need a second try. */
export async function go(page: Page, key: string, arrives: Locator): Promise<void> {
  await expect(async () => {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await expect(arrives.first()).toBeVisible({ timeout: 2_000 });
  }).toPass();
}

/** Opens the palette, types the text, and presses Enter on the first result. */
export async function command(page: Page, text: string, finds: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await expect(page.getByPlaceholder("Command or session")).toBeFocused();
  await page.keyboard.type(text);
  await expect(page.getByRole("option").first()).toContainText(finds);
  await page.keyboard.press("Enter");
}
